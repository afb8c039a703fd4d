/*
 * Decisions over one client: of one hot key and of 100,000 keys, with 1, 64 and 512 under way at a
 * time. What counts is the time of one decision, and how much of Redis' processor it takes.
 */
import { fractions } from '../lib/keys.mjs';
import { startRedis } from '../lib/redis.mjs';
import { atLeast, compared, PRODUCT } from '../lib/rows.mjs';
import { CONTROL, createSubject, PEER_NAMES } from './subjects.mjs';

const KEYS = 100_000;
const AT_A_TIME = [1, 64, 512];

export const subjects = [CONTROL, PRODUCT, ...PEER_NAMES];
export const rounds = 5;
export const budgetSeconds = 240;

export async function measure(name, scale) {
  const redis = await startRedis();
  const ask = await createSubject(name, redis.client);
  const random = fractions();
  const keys = Array.from({ length: KEYS }, (_, i) => `user:${String(i).padStart(11, '0')}`);
  const ways = { hot: () => keys[7], spread: () => keys[Math.floor(random() * KEYS)] };
  const results = {};
  for (const [way, next] of Object.entries(ways)) {
    for (const width of AT_A_TIME) {
      await run(ask, next, width, 300 * scale);
      const before = redis.cpuMicros();
      const { count, micros } = await run(ask, next, width, 1000 * scale);
      results[`${way}${width}`] = micros / count;
      results[`${way}${width}cpu`] = (redis.cpuMicros() - before) / count;
    }
  }
  return results;
}

async function run(ask, next, width, millis) {
  const began = performance.now();
  const end = began + millis;
  let count = 0;
  const worker = async () => {
    while (performance.now() < end) {
      await ask(next());
      count++;
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return { count, micros: (performance.now() - began) * 1000 };
}

export function report(results) {
  const field = (name, unit, work, goals) => {
    const all = [...PEER_NAMES, CONTROL].map((peer) => [peer, results.median(peer, name)]);
    const peers = Object.fromEntries(all.slice(0, -1));
    const [peer, value] = all.at(-1);
    const ours = results.median(PRODUCT, name);
    const rows = compared(work, unit, ours, peers, goals);
    return [...rows, { work, subject: peer, value, unit, ratio: value / ours }];
  };
  return [
    ...field('hot64', 'µs', 'redis, one hot key, 64 at a time', { fastest: atLeast(3.5) }),
    ...field('hot512', 'µs', 'redis, one hot key, 512 at a time', { fastest: atLeast(10) }),
    ...field('spread64', 'µs', 'redis, 100k keys, 64 at a time', { fastest: atLeast(1.4) }),
    ...field('spread512', 'µs', 'redis, 100k keys, 512 at a time', { fastest: atLeast(2.5) }),
    ...field('spread1', 'µs', 'redis, 100k keys, one at a time', { fastest: atLeast(1) }),
    ...field('spread64cpu', 'µs', "Redis' processor, 100k keys, 64", { fastest: atLeast(2) }),
    ...field('hot512cpu', 'µs', "Redis' processor, hot key, 512", { fastest: atLeast(40) }),
  ];
}
