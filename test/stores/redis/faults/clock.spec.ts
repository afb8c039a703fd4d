import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { SteppedServer } from './stepped-server.js';
import { ALGORITHMS, CLIENTS, clientOf, Shop, waitOf, wordsOf } from './support.js';

const HOUR = 3_600_000;

/** Full again in two hours: a step of one hour is half of it. */
const HALF = {
  'token-bucket,10,2h': 5,
  'sliding-window,10,2h': 0,
} as const;

describeWithRedis.each(CLIENTS)("a step of the server's clock, under %s", (client) => {
  let server: RedisServer;
  let stepped: SteppedServer;
  let shop: Shop;

  beforeEach(async () => {
    server = await RedisServer.start();
    stepped = await SteppedServer.over(server.port);
    shop = await Shop.open(clientOf(client, stepped.port), { timeoutMillis: 250 });
  });
  afterEach(async () => {
    await server.stop();
    await stepped.stop();
  });

  it.each([HOUR, -HOUR, 1000, -1000, 24 * HOUR, -24 * HOUR])(
    'by %i ms costs nobody an answer of Redis, nor a wait',
    async (step) => {
      for (const rule of ALGORITHMS) await shop.take(rule);
      stepped.stepMillis = step;
      for (const rule of [...ALGORITHMS, ALGORITHMS.join(' & ')]) {
        const { answer, millis } = await waitOf(() => shop.take(rule, 'bob'));
        expect(wordsOf(answer)).toBe('yes');
        expect(millis).toBeLessThanOrEqual(250);
      }
      stepped.stepMillis = 0;
      for (const rule of ALGORITHMS) expect(wordsOf(await shop.take(rule, 'carol'))).toBe('yes');
      expect(shop.events).toEqual([]);
    },
  );

  it.each(ALGORITHMS)('back by an hour admits nothing, and refuses no longer: %s', async (rule) => {
    expect(await shop.takes(3, rule)).toBe('yes, yes, yes');
    stepped.stepMillis = -HOUR;
    // A bucket owes an hour more of its year, which is less than one.
    expect(await shop.takes(3, rule)).toMatch(/^yes, (yes|quota), quota$/);
    const { retryAfterMillis, limit, windowMillis } = await shop.peek(rule);
    expect(limit).toBe(5);
    expect(retryAfterMillis).toBeLessThanOrEqual(windowMillis);
  });

  it.each(ALGORITHMS)('ahead by an hour and back gives one capacity at most: %s', async (rule) => {
    const short = rule.replace('365d', '10m');
    const all = 'yes, yes, yes, yes, yes';
    expect(await shop.takes(5, short)).toBe(all);
    stepped.stepMillis = HOUR;
    // For the server an hour has passed.
    expect(await shop.takes(5, short)).toBe(all);
    stepped.stepMillis = 0;
    expect(await shop.takes(5, short)).not.toContain('yes');
    const { retryAfterMillis, windowMillis, degraded } = await shop.peek(short);
    expect(degraded).toBeUndefined();
    // What a counter of two boxes moved back is weighed in the next box too.
    const boxes = rule.startsWith('sliding-window-counter') ? 2 : 1;
    expect(retryAfterMillis).toBeLessThanOrEqual(boxes * windowMillis);
  });

  it.each(Object.entries(HALF))('ahead counts as time that passed: %s', async (rule, gained) => {
    expect(wordsOf(await shop.take(rule, 'alice', 10))).toBe('yes');
    stepped.stepMillis = HOUR;
    expect((await shop.peek(rule)).remaining).toBe(gained);
  });

  it('ahead lets no command act after its deadline', async () => {
    for (const rule of ALGORITHMS) {
      await shop.take(rule);
      stepped.stepMillis += HOUR;
      expect(wordsOf(await shop.take(rule))).toMatch(/^yes$/);
      const before = await shop.held(server);
      await server.freeze();
      expect(wordsOf(await shop.take(rule))).toBe('~yes');
      server.thaw();
      await shop.peek(rule, 'bob');
      expect(await shop.held(server)).toEqual(before);
    }
  });
});
