/*
 * The one place where a store knows another: while Redis is away, `local` rules count in the memory
 * of this process.
 */
import { DegradedLimiter } from '../../core/degraded-limiter.js';
import { MemoryStore } from '../memory/memory.store.js';

export interface LocalOptions {
  /** How many counters are kept at most while Redis is away: 1 … 2^26, default 100,000. */
  readonly maxKeys?: number;
}

/**
 * What decides while Redis cannot be asked. Its memory is set aside when the first `local` rule
 * decides.
 *
 * @param instances how many share the limits, 1 or more
 * @throws RangeError when maxKeys is no whole number from 1 to 2^26
 */
export function createDegradedLimiter(
  instances: () => number,
  { maxKeys = 100_000 }: LocalOptions = {},
): DegradedLimiter {
  return new DegradedLimiter(new MemoryStore({ maxKeys }), instances);
}
