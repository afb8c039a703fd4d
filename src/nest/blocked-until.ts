import { showNumber } from '../core/fault.js';

/**
 * When a block ends that begins now.
 *
 * @throws RangeError for a time that is no positive whole number of milliseconds
 */
export function blockedUntil(now: number, forMillis: number): number {
  const lasts = Number.isInteger(forMillis) && forMillis > 0;
  if (lasts && Number.isSafeInteger(now + forMillis)) return now + forMillis;
  const given = showNumber(forMillis);
  throw new RangeError(`A block lasts a positive whole number of milliseconds, got ${given}`);
}
