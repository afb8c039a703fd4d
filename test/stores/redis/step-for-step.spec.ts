import { Redis } from 'ioredis';
import { RedisStore } from '../../../src/stores/redis/index.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { RULES } from './rules.js';
import { firstDifference } from './stores-agree.js';

/** `REDIS_STEPS=1000000` for the long run (`npm run exact:redis`), `SEED=…` for another one. */
const STEPS = Number(process.env['REDIS_STEPS'] ?? 100_000);
const SEED = Number(process.env['SEED'] ?? 20_260_101);
const PART = STEPS / Object.keys(RULES).length;
const OPTIONS = { prefix: 'test', time: 'clock', timeoutMillis: 5000 } as const;

describeWithRedis('the Redis store, step for step', () => {
  let server: RedisServer;
  let client: Redis;
  let store: RedisStore;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port, { lazyConnect: true });
    store = new RedisStore(client, OPTIONS);
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
      const run = { rules, steps: PART, seed: SEED, place };
      expect(await firstDifference(store, run)).toBeGreaterThanOrEqual(PART);
    },
    STEPS + 60_000,
  );
});

describeWithRedis('the Redis store on a cluster, step for step', () => {
  let cluster: RedisCluster;
  let store: RedisStore;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    const nodes = cluster.ports.map((port) => `127.0.0.1:${port}`);
    store = new RedisStore({ nodes }, OPTIONS);
    await until('the store is connected', () => store.connected);
  }, 60_000);

  afterAll(async () => {
    await store?.close();
    await cluster?.stop();
  });

  it.each(Object.entries(RULES))(
    'answers as the memory store does, in one slot and in several: %s',
    async (place, rules) => {
      const run = { rules, steps: PART / 3, seed: SEED + 1, place, cluster: true };
      expect(await firstDifference(store, run)).toBeGreaterThanOrEqual(PART / 3);
    },
    STEPS + 60_000,
  );
});
