import { assertCost } from './decision.js';
import type { Visit } from './waiter.js';

/** How to wait. */
export interface AcquireOptions {
  /** A whole number, 0 or more. Default 1. */
  readonly cost?: number;
  /** How long to wait at most, in milliseconds: 0 or more, also `Infinity`. Default 30,000. */
  readonly timeoutMillis?: number;
  /** Ends the waiting: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_TIMEOUT_MILLIS = 30_000;

/**
 * Checks the options.
 *
 * @param now when it came
 * @throws RangeError for a cost that is no whole number, 0 or more, and for a timeout below 0; the
 * reason of a signal that was aborted before
 */
export function visitOf(options: AcquireOptions, now: number): Visit {
  const { cost = 1, timeoutMillis = DEFAULT_TIMEOUT_MILLIS, signal } = options;
  assertCost(cost);
  if (!(typeof timeoutMillis === 'number' && timeoutMillis >= 0)) {
    const given = `${typeof timeoutMillis} ${String(timeoutMillis)}`;
    throw new RangeError(`timeoutMillis is a number of milliseconds, 0 or more, got ${given}`);
  }
  signal?.throwIfAborted();
  const until = now + timeoutMillis;
  return { cost, signal: signal ?? undefined, deadline: () => until };
}
