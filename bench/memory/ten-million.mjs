/* Ten million keys in one process: a decision on average, its 99th percentile, and all memory. */
import { fractions, freshKey } from '../lib/keys.mjs';
import { atMost, goalRow, PRODUCT, row } from '../lib/rows.mjs';
import { askFresh, counting, HOUR, nanosEach } from './loops.mjs';
import { CONTROL, createSubject } from './subjects.mjs';

const KEYS = 10_000_000;
const SAMPLES = 100_000;
/** A timer at every decision would slow down all of them. */
const EVERY = 16;

export const subjects = [CONTROL, PRODUCT];
export const rounds = 3;
export const budgetSeconds = 50;

export async function measure(name, scale) {
  const keys = Math.round(KEYS * scale);
  const subject = await createSubject(name, { limit: 100, windowMillis: HOUR, capacity: KEYS });
  await askFresh(subject, counting(), keys);
  const random = fractions();
  const next = () => Math.floor(random() * keys);
  const time = { warmMillis: 400 * scale, millis: 1500 * scale };
  const nanos = await nanosEach((n) => askFresh(subject, next, n), 10_000, time);
  const p99 = percentile99(subject.ask, next) - timerNanos();
  return { nanos, p99, megabytes: process.memoryUsage.rss() / 1e6 };
}

function percentile99(ask, next) {
  const samples = new Float64Array(SAMPLES);
  for (let i = 0; i < SAMPLES; i++) {
    for (let j = 1; j < EVERY; j++) ask(freshKey(next()));
    const key = freshKey(next());
    const began = performance.now();
    ask(key);
    samples[i] = performance.now() - began;
  }
  return samples.sort()[Math.floor(SAMPLES * 0.99)] * 1e6;
}

/** What the timer itself adds: the median of doing nothing between its two readings. */
function timerNanos() {
  const samples = new Float64Array(SAMPLES);
  for (let i = 0; i < SAMPLES; i++) {
    const began = performance.now();
    samples[i] = performance.now() - began;
  }
  return samples.sort()[SAMPLES / 2] * 1e6;
}

export function report(results) {
  const work = '10M keys, uniform';
  const p99 = results.median(PRODUCT, 'p99');
  const megabytes = results.median(PRODUCT, 'megabytes');
  return [
    row(`${work}, mean`, PRODUCT, results.medianOver(PRODUCT, CONTROL, 'nanos'), 'ns'),
    goalRow(`${work}, p99`, PRODUCT, p99, 'ns', atMost(1500, 'ns')),
    row(`${work}, p99`, CONTROL, results.median(CONTROL, 'p99'), 'ns'),
    goalRow(`${work}, whole process`, PRODUCT, megabytes, 'MB', atMost(300, 'MB')),
    row(`${work}, whole process`, CONTROL, results.median(CONTROL, 'megabytes'), 'MB'),
  ];
}
