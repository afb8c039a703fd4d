/*
 * When does the turn of one come who stands behind others, at the soonest?
 *
 *   costs before it, and its own   │ 2 │ 1 │ 3 │        upTo = 6, capacity 4: one round of 4, and 2
 *
 * All that came before take before it. So it is not before the moment at which all costs fit at
 * once; and of more than a capacity, each further capacity takes the time in which one fills: a log
 * and a bucket admit it no faster, and a box that opens later admits one. That moment is asked of
 * the store, by peeking for what is left over the rounds.
 *
 * Where counts fade, what those before take weighs less by the time it is this one's turn, and the
 * costs cannot be asked for together. Then it is only sure that a capacity fills one box, and the
 * first round may be almost over.
 *
 * Never later than the true moment, as long as those before it stay and nobody gives back.
 */
import { type Decision, rulesOf } from './decision.js';

export interface Forecast {
  /** What to peek for. */
  readonly cost: number;
  /** Until its turn at the soonest, by the answer to that. */
  soonest(answer: Decision): number;
}

/** The smallest capacity: a cost above it never fits. */
export function capacityOf(decision: Decision): number {
  return Math.min(...rulesOf(decision).map(({ limit }) => limit));
}

/** @param upTo the costs of all before it and its own */
export function forecast(
  upTo: number,
  ownCost: number,
  capacity: number,
  fades: boolean,
): Forecast {
  // What never fits is asked for itself, to be told so.
  const all = ownCost > capacity ? 1 : Math.max(1, Math.ceil(upTo / capacity));
  const rounds = fades ? Math.max(0, all - 2) : all - 1;
  const cost = fades || ownCost > capacity ? ownCost : upTo - rounds * capacity;
  return {
    cost,
    soonest: (answer) => {
      const waits = rulesOf(answer).map(({ limit, windowMillis, retryAfterMillis }) => {
        // The window is rounded up.
        const more = limit === capacity ? rounds * (windowMillis - 1) : 0;
        return fades ? Math.max(retryAfterMillis, more) : retryAfterMillis + more;
      });
      // A block holds all rules.
      return Math.max(answer.retryAfterMillis, ...waits);
    },
  };
}
