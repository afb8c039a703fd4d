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
   * fit: see the event `dropped`. The estimate stands where `actual` is left out.
   *
   * @param actual a whole number, 0 or more
   * @throws RangeError, at once, for any other cost; the reservation stays open
   */
  readonly commit: (actual?: number) => Promise<void>;
  /** Gives all back, as far as it still counts. */
  readonly cancel: () => Promise<void>;
}

/** The reservation of what `take` takes; of rules that are decided apart, each of their parts. */
export async function reserved(take: (keep: Keep) => MaybePromise<Decision>): Promise<Reservation> {
  let open: Taken[] | undefined = [];
  let final: number | undefined;
  const decision = await take((taken) => {
    if (open) open.push(taken);
    // A rule in shadow mode may be decided after the reservation was settled.
    else if (final !== undefined) void taken.settle(final);
  });
  const commit = (actual?: number): Promise<void> => {
    if (actual !== undefined) assertCost(actual);
    const taken = open ?? [];
    if (open) final = actual;
    open = undefined;
    const settled = actual === undefined ? [] : taken.map((one) => one.settle(actual));
    return Promise.all(settled).then(() => undefined);
  };
  return { decision, commit, cancel: () => commit(0) };
}
