/*
 * The exact log's ring alone: whether one more fits, taking it, and how the counter stands then, at a
 * steady rate at which each request comes just as the oldest leaves. Its price must not follow the limit.
 */
import { createAlgorithm } from '../../dist/esm/core/algorithms/index.js';
import { atMost, goalRow, PRODUCT, row } from '../lib/rows.mjs';
import { nanosEach } from './loops.mjs';

const LIMITS = { small: 10, large: 100_000 };
const START = 1_700_000_000_000;

export const subjects = [PRODUCT];
export const rounds = 7;
export const budgetSeconds = 20;

export async function measure(_name, scale) {
  const time = { warmMillis: 200 * scale, millis: 500 * scale };
  const loop = await nanosEach(emptyLoop, 100_000, time);
  const small = await nanosEach(ring(LIMITS.small), 100_000, time);
  const large = await nanosEach(ring(LIMITS.large), 100_000, time);
  return { loop, small: small - loop, large: large - loop };
}

function emptyLoop(count) {
  let now = START;
  let sum = 0;
  for (let i = 0; i < count; i++) sum += now++;
  return sum;
}

/** One request a millisecond, as many as the window admits. */
function ring(limit) {
  const algorithm = createAlgorithm('sliding-window', { limit, windowMillis: limit });
  const cells = new Float64Array(algorithm.width);
  const view = { remaining: 0, resetAfter: 0, moreAfter: 0 };
  let start = START;
  return (count) => {
    // A variable of its own: one that the closure keeps would make a number object each time.
    let now = start;
    for (let i = 0; i < count; i++, now++) {
      const wait = algorithm.decide(cells, 0, now, 1, true, view);
      if (wait > 0) throw new Error('The ring refused');
    }
    start = now;
  };
}

export function report(results) {
  const small = results.median(PRODUCT, 'small');
  const large = results.median(PRODUCT, 'large');
  const work = 'sliding log, one decision in the ring';
  const ten = atMost(10, 'ns');
  return [
    goalRow(work, `${PRODUCT}, limit 10`, small, 'ns', ten),
    goalRow(work, `${PRODUCT}, limit 100,000`, large, 'ns', ten),
    row(
      work,
      'the larger over the smaller',
      Math.max(small, large) - Math.min(small, large),
      'ns',
      {
        // Below two nanoseconds lies what the loop around them and the machine do.
        goal: 'equal within 2 ns',
        reached: Math.abs(small - large) <= 2,
      },
    ),
  ];
}
