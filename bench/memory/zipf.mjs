/* 100,000 keys, some asked for far more often than others, each time by a fresh string. */
import { zipf } from '../lib/keys.mjs';
import { atLeast, compared, PRODUCT } from '../lib/rows.mjs';
import { askFresh, counting, HOUR, nanosEach } from './loops.mjs';
import { CONTROL, createSubject, PEER_NAMES } from './subjects.mjs';

export const subjects = [CONTROL, PRODUCT, ...PEER_NAMES];
export const rounds = 5;
export const budgetSeconds = 60;

const KEYS = 100_000;

export async function measure(name, scale) {
  // The most frequent key is asked for 80,000 times in a million; throttler would keep them all.
  const options = { limit: 1000, windowMillis: HOUR, capacity: 131_072 };
  const subject = await createSubject(name, options);
  const order = zipf(KEYS, 2 ** 20);
  let at = 0;
  const next = () => order[at++ & (order.length - 1)];
  await askFresh(subject, counting(), KEYS * Math.min(1, scale));
  const time = { warmMillis: 400 * scale, millis: 900 * scale };
  return { nanos: await nanosEach((n) => askFresh(subject, next, n), 10_000, time) };
}

export function report(results) {
  const net = (name) => results.medianOver(name, CONTROL, 'nanos');
  const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, net(name)]));
  return compared('100k keys, Zipf', 'ns', net(PRODUCT), peers, { fastest: atLeast(3.5) });
}
