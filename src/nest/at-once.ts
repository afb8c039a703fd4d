import type { Decision, MaybePromise, RateLimitStore } from '../core/index.js';
import { isPromise } from '../core/maybe-promise.js';
import { SynchronousStore } from '../core/store.js';
import type { Subject } from './call-subjects.js';
import type { Keep } from './settlements.js';

/**
 * The decision of a caller who cannot wait for a promise. Where one is answered nothing stays
 * taken, since such a caller will ask again, by `check`.
 *
 * @throws TypeError where tierOf or the store answers with a promise
 */
export function decidedAtOnce(
  subject: MaybePromise<Subject>,
  take: (subject: Subject, keep?: Keep) => MaybePromise<Decision>,
  store: RateLimitStore,
): Decision {
  if (isPromise(subject)) throw promised(subject, 'tierOf');
  let isLate = false;
  // That a store answers with a promise shows only when it has taken.
  const giveBack: Keep = (taken) => {
    if (isLate) void taken.settle(0);
  };
  const decision = take(subject, store instanceof SynchronousStore ? undefined : giveBack);
  if (!isPromise(decision)) return decision;
  isLate = true;
  throw promised(decision, `the ${store.name} store`);
}

function promised(promise: Promise<unknown>, who: string): TypeError {
  promise.catch(() => undefined);
  return new TypeError(`checkSync needs what answers at once, but ${who} answers with a promise`);
}
