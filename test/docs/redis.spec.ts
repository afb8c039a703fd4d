import type { Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Policy, RateLimitService, type RateLimitStore } from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import { planCounters } from '../../src/core/counter-plan.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { example, run } from './blocks.js';

const FILE = 'docs/redis.md';
describeWithRedis('docs/redis.md', () => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await RedisServer.start();
  });

  afterEach(() => server.stop());

  /** An example on this server instead of that of the document. */
  const onServer = (part: string) =>
    example(FILE, part).replaceAll('127.0.0.1:6379', `127.0.0.1:${server.port}`);

  const entry = (policy: string, cost = 1, user = 'user-000001') => ({
    counters: planCounters({ policy: Policy.of(policy), place: 'default', label: 'default' }).map(
      (plan) => ({ plan, values: [user, '/orders'] }),
    ),
    cost,
    mode: 'take' as const,
  });

  it('connects a module', async () => {
    const { AppModule } = await run(onServer('class AppModule'));
    const module = await Test.createTestingModule({ imports: [AppModule as Type] }).compile();
    module.useLogger(false);
    await module.init();
    const { remaining, degraded } = await module.get(RateLimitService).check('alice', '/orders');
    expect({ remaining, degraded }).toEqual({ remaining: 4, degraded: undefined });
    await module.close();
  });

  it.each(["from 'iovalkey'", 'createClient', "connection: 'shared'"])(
    'connects a store by its example with %s',
    async (part) => {
      const { store, client } = (await run(onServer(part), ['client'])) as {
        store: RedisStore;
        client: { disconnect?(): void; isOpen?: boolean };
      };
      await until('the store is connected', () => store.connected);
      await store.close();
      if (client.isOpen === undefined) client.disconnect?.();
    },
  );

  it('makes stores of clusters and sentinels', async () => {
    const stores = await run(example(FILE, 'sentinels:'));
    for (const store of Object.values(stores) as RateLimitStore[]) await store.close();
    expect(Object.keys(stores)).toEqual(expect.arrayContaining(['cluster', 'sentinel']));
  });

  it('tells of the breaker', async () => {
    const { store, states } = (await run(onServer('breaker'))) as {
      store: RedisStore;
      states: string[];
    };
    await until('the store is connected', () => store.connected);
    await server.kill();
    for (let i = 0; i < 6; i++) await store.decide([entry('fixed-window,2,10')], 1000);
    expect(states).toEqual(['open']);
    await store.close();
  });

  it('tells about how much memory a counter takes', async () => {
    const url = `redis://127.0.0.1:${server.port}`;
    const store = new RedisStore({ url }, { prefix: 'shop', timeoutMillis: 5000 });
    for (const [policy, cost, bytes] of [
      ['token-bucket,5,10m', 1, 88],
      ['token-bucket,7,10m', 1, 120],
      ['fixed-window,5,1h', 1, 88],
      ['sliding-window-counter,5,1h', 1, 104],
      ['sliding-window,20,1h', 20, 180 + 200],
      ['sliding-window,1000,1h', 1000, 180 + 10_000],
    ] as const) {
      await server.send('FLUSHALL');
      await store.decide([entry(policy, cost)], Date.now());
      const [key] = (await server.send('KEYS', '*')) as string[];
      expect(key).toMatch(/^shop:\{user-000001\|\/orders\}[\w-]{11}$/);
      const used = Number(await server.send('MEMORY', 'USAGE', key!));
      expect([policy, used > bytes / 1.5, used < bytes * 1.5]).toEqual([policy, true, true]);
    }
    await store.close();
  });
});
