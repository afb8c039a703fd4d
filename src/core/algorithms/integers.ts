/**
 * Whole numbers held in doubles: exact below 2^53. A rule is accepted only when every product its
 * arithmetic forms stays below that bound, so `+`, `-`, `*` are exact here; and the quotient of
 * two such integers, rounded by the processor and then floored or ceiled, is the exact one: for it
 * to be rounded onto a whole number k that it isn't, k times the divisor would have to reach 2^53.
 */
export const EXACT_BOUND = 2 ** 53;

export function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return x;
}

/** a / b rounded up. */
export function ceilDiv(a: number, b: number): number {
  return Math.ceil(a / b);
}

/** a / b rounded down. */
export function floorDiv(a: number, b: number): number {
  return Math.floor(a / b);
}

/** a − a mod b, the multiple of b at or below a. `%` on doubles takes twenty times as long. */
export function multipleBelow(a: number, b: number): number {
  return Math.floor(a / b) * b;
}
