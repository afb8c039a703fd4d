/** A store does not do what the port promises: what, what was expected, and what it did. */
export class StoreContractError extends Error {
  override readonly name = 'StoreContractError';

  constructor(
    what: string,
    readonly expected: unknown,
    readonly got: unknown,
  ) {
    super(`${what}\n  expected ${shown(expected)}\n  got      ${shown(got)}`);
  }
}

/** @throws StoreContractError unless both are the same */
export function same(what: string, got: unknown, expected: unknown): void {
  if (!equal(got, expected)) throw new StoreContractError(what, expected, got);
}

/**
 * Compares the fields of `expected` alone: what a store tells besides is its own affair.
 *
 * @throws StoreContractError unless they are the same
 */
export function holds<T extends object>(what: string, got: T, expected: Partial<T>): void {
  const fields = Object.keys(expected) as (keyof T)[];
  const told = got !== null && typeof got === 'object';
  same(what, told ? Object.fromEntries(fields.map((name) => [name, got[name]])) : got, expected);
}

function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a, b] as Record<string, unknown>[];
  // An absent field is as good as one that is undefined.
  const names = new Set([...Object.keys(left!), ...Object.keys(right!)]);
  return [...names].every((name) => equal(left![name], right![name]));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'number' && !Number.isFinite(part) ? String(part) : part,
  );
  return text ?? String(value);
}
