import type { Decision } from '../../../../src/core/index.js';
import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { ALGORITHMS, CLIENTS, clientOf, Shop, waitOf, wordsOf } from './support.js';

const TIMEOUT = 200;

describeWithRedis.each(CLIENTS)('a server that stands still, under %s', (client) => {
  let server: RedisServer;
  let shop: Shop;

  beforeEach(async () => {
    server = await RedisServer.start();
    shop = await Shop.open(clientOf(client, server.port), { timeoutMillis: TIMEOUT });
  });
  afterEach(() => server.stop());

  /** Freezes the server, asks, lets the time of the question pass, and thaws. */
  async function askFrozen<T>(ask: () => Promise<T>): Promise<T> {
    await server.freeze();
    const { answer, millis } = await waitOf(ask, TIMEOUT);
    expect(millis).toBeLessThanOrEqual(TIMEOUT + 10);
    server.thaw();
    return answer;
  }

  it.each(ALGORITHMS)('takes nothing when it goes on: %s', async (rule) => {
    expect(await shop.takes(2, rule)).toBe('yes, yes');
    const before = await shop.held(server);
    expect(wordsOf(await askFrozen(() => shop.take(rule)))).toBe('~yes');
    // Redis answers a connection in the order in which it was asked.
    expect(await shop.peek(rule)).toMatchObject({ remaining: 3, allowed: true });
    expect(await shop.held(server)).toEqual(before);
    expect(await shop.takes(4, rule)).toBe('yes, yes, yes, quota');
  });

  it('takes nothing by many rules at once, nor by many that ask at once', async () => {
    const joined = ALGORITHMS.join(' & ');
    await shop.take(joined);
    const before = await shop.held(server);
    expect(before).toHaveLength(4);
    const ask = () =>
      Promise.all([
        ...Array.from({ length: 20 }, () => shop.take(joined)),
        ...ALGORITHMS.map((rule) => shop.take(rule, 'bob', 5)),
      ]);
    const answers: Decision[] = await askFrozen(ask);
    expect(answers.every(({ allowed, degraded }) => allowed && degraded)).toBe(true);
    // However many decisions it carried, it was one failure.
    expect(shop.events).toEqual(['failed']);
    expect((await shop.peek(joined)).remaining).toBe(4);
    expect(await shop.held(server)).toEqual(before);
  });

  it('neither gives back, nor charges, nor resets, nor blocks', async () => {
    for (const rule of ALGORITHMS) {
      const outcome = await shop.outcome(rule);
      const before = await shop.held(server);
      const { counters } = outcome.entry;
      const [back, charged, reset, block] = await askFrozen(() =>
        Promise.all([
          shop.store.settle(outcome, -1, shop.now),
          shop.store.settle(outcome, 2, shop.now),
          shop.store.reset(counters).then(
            () => 'done',
            () => 'told',
          ),
          shop.store.block(counters, shop.now + 60_000, shop.now).then(
            () => 'done',
            () => 'told',
          ),
        ]),
      );
      expect([back, charged, reset, block]).toEqual([0, 2, 'told', 'told']);
      expect((await shop.peek(rule)).remaining).toBe(4);
      expect(await shop.held(server)).toEqual(before);
    }
  });

  it('ends without waiting for it', async () => {
    const counting = await Shop.open(clientOf(client, server.port), {
      timeoutMillis: TIMEOUT,
      instances: 'auto',
    });
    await counting.take(ALGORITHMS[0]);
    await askFrozen(() => counting.store.close());
  });

  it('decides what is under way when the store is closed', async () => {
    await server.freeze();
    const asked = shop.take(ALGORITHMS[0]);
    await shop.store.close();
    expect(wordsOf(await asked)).toBe('~yes');
    expect(wordsOf(await shop.take(ALGORITHMS[0]))).toBe('~yes');
  });
});
