import { Redis } from 'ioredis';
import { RedisStore } from '../../../src/stores/redis/index.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { firstDifference } from './stores-agree.js';

/** `REDIS_STEPS=1000000` for the long run, `SEED=…` for another one. */
const STEPS = Number(process.env['REDIS_STEPS'] ?? 20_000);
const SEED = Number(process.env['SEED'] ?? 20_260_101);

const RULES: Readonly<Record<string, readonly string[]>> = {
  'token buckets': [
    'token-bucket,5,10',
    'token-bucket,7,1,burst=3',
    'token-bucket,1000,7ms',
    'token-bucket,3,365d',
  ],
  'fixed windows': ['fixed-window,3,2', 'fixed-window,1,1ms', 'fixed-window,2000000,1d'],
  'sliding windows': ['sliding-window,5,2', 'sliding-window,1,50ms', 'sliding-window,40,1m'],
  counters: ['sliding-window-counter,4,1', 'sliding-window-counter,100,7ms'],
  'joined rules': [
    'token-bucket,5,10 & fixed-window,8,20',
    'sliding-window,3,2 & sliding-window-counter,5,3 & token-bucket,4,1',
    'fixed-window,4,2',
  ],
};

describeWithRedis('the Redis store, step for step', () => {
  let server: RedisServer;
  let client: Redis;
  let store: RedisStore;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port, { lazyConnect: true });
    store = new RedisStore(client, { prefix: 'test', time: 'clock', timeoutMillis: 5000 });
    await until('the store is connected', () => store.connected);
  });

  afterAll(async () => {
    await store.close();
    client.disconnect();
    await server.stop();
  });

  it.each(Object.entries(RULES))(
    'answers as the memory store does: %s',
    async (place, rules) => {
      const run = { rules, steps: STEPS, seed: SEED, place };
      expect(await firstDifference(store, run)).toBeGreaterThanOrEqual(STEPS);
    },
    600_000,
  );
});
