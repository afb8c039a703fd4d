/* What one client takes in Redis, by algorithm: as Redis tells it of the key, less the key's own text. */
import { startRedis, until } from '../lib/redis.mjs';
import { atMost, goalRow, PRODUCT } from '../lib/rows.mjs';

const RULES = {
  'token-bucket, whole milliseconds': { text: 'token-bucket,5,10', most: 120 },
  'fixed-window': { text: 'fixed-window,5,10', most: 120 },
  'token-bucket, with a rest': { text: 'token-bucket,7,1', most: 150 },
  'sliding-window-counter': { text: 'sliding-window-counter,100,60', most: 150 },
};
const LOG = 200;

export const subjects = [PRODUCT];
export const rounds = 1;
export const budgetSeconds = 10;

export async function measure() {
  const { client } = await startRedis();
  const { LimiterFactory, SystemClock } = await import('../../dist/esm/core/index.js');
  const { RedisStore } = await import('../../dist/esm/stores/redis/index.js');
  const store = new RedisStore(client, { prefix: 'bench', timeoutMillis: 10_000 });
  await until(() => store.connected);
  const factory = new LimiterFactory(new SystemClock());
  const bytesAfter = async (rule, times) => {
    await client.flushall();
    const limiter = factory.createKeyed(rule, { store });
    for (let i = 0; i < times; i++) await limiter.tryAcquire('user:00000000001');
    const [key] = await client.keys('*');
    return (await client.memory('USAGE', key, 'SAMPLES', 0)) - key.length;
  };
  const result = {};
  for (const [name, { text }] of Object.entries(RULES)) result[name] = await bytesAfter(text, 1);
  const rule = `sliding-window,${LOG},1h`;
  // In whole bytes: the nodes of the list add a fiftieth.
  const grown = (await bytesAfter(rule, LOG)) - (await bytesAfter(rule, LOG / 2));
  result.log = Math.round(grown / (LOG / 2));
  return result;
}

export function report(results) {
  const work = "memory in Redis a client, besides the key's text";
  const rows = Object.entries(RULES).map(([name, { most }]) =>
    goalRow(work, name, results.median(PRODUCT, name), 'bytes', atMost(most, 'bytes')),
  );
  const log = results.median(PRODUCT, 'log');
  return [...rows, goalRow(work, 'sliding-window, an entry', log, 'bytes', atMost(10, 'bytes'))];
}
