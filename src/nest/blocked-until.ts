/**
 * When a block ends that begins now.
 *
 * @throws RangeError for a time that is no positive whole number of milliseconds
 */
export function blockedUntil(now: number, forMillis: number): number {
  const until = now + forMillis;
  if (Number.isInteger(forMillis) && forMillis > 0 && Number.isSafeInteger(until)) return until;
  const given =
    typeof forMillis === 'number' ? String(forMillis) : `${typeof forMillis} ${String(forMillis)}`;
  throw new RangeError(`A block lasts a positive whole number of milliseconds, got ${given}`);
}
