import { assertCost } from '../core/decision.js';
import type { Decision, MaybePromise } from '../core/index.js';
import type { Keep, Taken } from './settlements.js';

/**
 * A cost that was taken as an estimate, until the real one is known. What is neither committed nor
 * cancelled stays spent.
 *
 * The first of `commit` and `cancel` counts, all later calls do nothing: so `cancel` may stand in
 * a `finally`. Of a refused reservation both do nothing, since nothing was taken. Neither ever
 * rejects: what could not be settled, as the store is out of reach, stays as it was taken.
 */
export interface Reservation {
  /** Whether it was let in, as `check` would answer. */
  readonly decision: Decision;
  /**
   * Gives back what was taken too much, or charges what was taken too little, although it may not
   * fit: see `dropped$`. The estimate stands where `actual` is left out.
   *
   * @param actual a whole number, 0 or more
   * @throws RangeError, at once, for any other cost; the reservation stays open
   */
  readonly commit: (actual?: number) => Promise<void>;
  /** Gives all back, as far as it still counts. */
  readonly cancel: () => Promise<void>;
}

/** The reservation of what `take` takes. */
export async function reserved(take: (keep: Keep) => MaybePromise<Decision>): Promise<Reservation> {
  let open: Taken | undefined;
  const decision = await take((taken) => {
    open = taken;
  });
  const commit = (actual?: number): Promise<void> => {
    if (actual !== undefined) assertCost(actual);
    const taken = open;
    open = undefined;
    return taken && actual !== undefined ? taken.settle(actual) : Promise.resolve();
  };
  return { decision, commit, cancel: () => commit(0) };
}
