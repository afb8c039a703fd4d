import { RedisStore } from 'nestjs-doorman/redis';
import { storeContract } from 'nestjs-doorman/testing';
import { MemoryStore } from '../../src/core/index.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

describe('the memory store keeps the contract', () => {
  for (const { name, run } of storeContract(() => new MemoryStore({ maxKeys: 1000 }))) {
    it(name, run);
  }
});

describeWithRedis('the Redis store keeps the contract', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  afterAll(() => server.stop());

  async function create(): Promise<RedisStore> {
    const target = { url: `redis://127.0.0.1:${server.port}` };
    const store = new RedisStore(target, { prefix: 'test', time: 'clock', timeoutMillis: 5000 });
    await until('the store is connected', () => store.connected);
    return store;
  }

  for (const { name, run } of storeContract(create)) it(name, run, 30_000);
});
