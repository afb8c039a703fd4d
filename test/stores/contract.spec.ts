import { RedisStore, type RedisTarget } from 'nestjs-doorman/redis';
import { storeContract } from 'nestjs-doorman/testing';
import { MemoryStore } from '../../src/core/index.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

describe('the memory store keeps the contract', () => {
  for (const { name, run } of storeContract(() => new MemoryStore({ maxKeys: 1000 }))) {
    it(name, run);
  }
});

/** A store on that target which goes by the time that it is handed. */
async function redisStore(target: RedisTarget): Promise<RedisStore> {
  const store = new RedisStore(target, { prefix: 'test', time: 'clock', timeoutMillis: 5000 });
  await until('the store is connected', () => store.connected);
  return store;
}

describeWithRedis('the Redis store keeps the contract', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  afterAll(() => server.stop());

  const create = () => redisStore({ url: `redis://127.0.0.1:${server.port}` });
  for (const { name, run } of storeContract(create)) it(name, run, 30_000);
});

describeWithRedis('the Redis store keeps the contract on a cluster', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 30_000);

  afterAll(() => cluster.stop());

  const create = () => redisStore({ nodes: cluster.ports.map((port) => `127.0.0.1:${port}`) });
  for (const { name, run } of storeContract(create)) it(name, run, 30_000);
});
