/* What both platforms measure and report alike. */
import { compared, row } from '../lib/rows.mjs';
import {
  EMPTY,
  NONE,
  OURS,
  OURS_BY_ADDRESS,
  OURS_REFUSING,
  OURS_THREE,
  OURS_TWO_DOORS,
  SIGNED_IN,
  SIGNED_IN_INTERCEPTOR,
  THROTTLER,
  THROTTLER_REFUSING,
  THROTTLER_THREE,
} from './apps.mjs';
import { microsEach } from './requests.mjs';

/**
 * The suite of a platform.
 *
 * @param own the limiter that the platform has itself
 * @param goals of one rule against each peer, of three rules, and of a refusal
 */
export function platformSuite(platform, own, goals) {
  const subjects = [NONE, EMPTY, OURS, OURS_THREE, THROTTLER, THROTTLER_THREE, own];
  const signedIn = [SIGNED_IN, SIGNED_IN_INTERCEPTOR, OURS_BY_ADDRESS, OURS_TWO_DOORS];
  const refusing = [OURS_REFUSING, THROTTLER_REFUSING];
  return {
    subjects: [...subjects, ...signedIn, ...refusing],
    rounds: 7,
    budgetSeconds: 340,
    measure: async (limiter, scale) => ({
      micros: await microsEach(platform, limiter, refusing.includes(limiter), scale),
    }),
    report: (results) => report(platform, own, goals, results),
  };
}

/** Of each round what a request takes more than with no limiter in the same round. */
function report(platform, own, goals, results) {
  const over = (limiter) => results.medianOver(limiter, NONE, 'micros');
  const one = `guard on ${platform}, over no limiter`;
  return [
    row(`${platform}, ${NONE}, a whole request`, NONE, results.median(NONE, 'micros'), 'µs'),
    ...compared(
      one,
      'µs',
      over(OURS),
      { [THROTTLER]: over(THROTTLER), [own]: over(own) },
      goals.one,
    ),
    row(one, EMPTY, over(EMPTY), 'µs'),
    ...againstThrottler(
      `${platform}, three rules`,
      over(OURS_THREE),
      over(THROTTLER_THREE),
      goals.three,
    ),
    ...againstThrottler(
      `${platform}, a refusal`,
      over(OURS_REFUSING),
      over(THROTTLER_REFUSING),
      goals.refusal,
    ),
    ...[OURS_BY_ADDRESS, OURS_TWO_DOORS, SIGNED_IN_INTERCEPTOR].map((limiter) => {
      const work = `${platform}, handlers with a guard of their own, over no limiter`;
      return row(work, limiter, results.medianOver(limiter, SIGNED_IN, 'micros'), 'µs');
    }),
  ];
}

function againstThrottler(work, ours, theirs, goal) {
  const goals = goal ? { [THROTTLER]: goal } : {};
  return compared(work, 'µs', ours, { [THROTTLER]: theirs }, goals);
}
