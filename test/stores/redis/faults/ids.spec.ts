import { Redis } from 'ioredis';
import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { ALGORITHMS, CLIENTS, clientOf, Shop, wordsOf } from './support.js';

/** Ids as users may have chosen them; no two of them are one. */
const IDS = [
  '',
  ' ',
  '  ',
  '%',
  '%25',
  '{',
  '}',
  '{}',
  '{alice}',
  'alice}x{bob',
  '%7balice%7d',
  '|',
  'a|b',
  '#',
  'line\nbreak',
  'line\r\nbreak',
  '*1\r\n$8\r\nFLUSHALL\r\n',
  '\u0000',
  '\u0000\u0000',
  'é',
  'e\u0301',
  '\u{1f600}',
  '\ud83d',
  '\ude00',
  '\ufffd',
  'x'.repeat(64),
  'x'.repeat(65),
  'é'.repeat(33),
  'x'.repeat(10_240),
  `${'x'.repeat(10_239)}y`,
  '\n'.repeat(10_240),
  '{'.repeat(10_240),
  '__proto__',
  'constructor',
  'toString',
];

describeWithRedis.each(CLIENTS)('ids of any kind, under %s', (client) => {
  let server: RedisServer;
  let shop: Shop;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await server.send('FLUSHALL');
    shop = await Shop.open(clientOf(client, server.port), { timeoutMillis: 1000 });
  });

  it('each have a counter of their own', async () => {
    for (const rule of ALGORITHMS) {
      for (const [i, id] of IDS.entries()) {
        expect(wordsOf(await shop.take(rule, id, 1 + (i % 5)))).toBe('yes');
      }
      const peeks = await Promise.all(IDS.map((id) => shop.peek(rule, id)));
      expect(peeks.map(({ remaining }) => remaining)).toEqual(IDS.map((_, i) => 4 - (i % 5)));
    }
    expect(await server.send('DBSIZE')).toBe(IDS.length * ALGORITHMS.length);
  });

  it('make short keys under the prefix, all with an end', async () => {
    await Promise.all(IDS.map((id) => shop.take(ALGORITHMS[0], id)));
    for (const key of (await server.send('KEYS', '*')) as string[]) {
      expect(key.startsWith(`${shop.prefix}:{`)).toBe(true);
      expect(Buffer.byteLength(key)).toBeLessThan(300);
      expect(await server.send('PTTL', key)).toBeGreaterThan(0);
    }
  });

  it('are settled, reset and blocked like any other', async () => {
    for (const id of IDS) {
      const outcome = await shop.outcome(ALGORITHMS[1], id, 3);
      expect(await shop.store.settle(outcome, -2, shop.now)).toBe(0);
      expect((await shop.peek(ALGORITHMS[1], id)).remaining).toBe(4);
      await shop.store.block(outcome.entry.counters, shop.now + 60_000, shop.now);
      expect(wordsOf(await shop.take(ALGORITHMS[1], id))).toBe('blocked');
      await shop.store.block(outcome.entry.counters, 0, shop.now);
      await shop.store.reset(outcome.entry.counters);
      expect((await shop.peek(ALGORITHMS[1], id)).remaining).toBe(5);
    }
  });
});

describeWithRedis('prefixes', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('keep applications apart, also where one begins as another', async () => {
    const prefixes = ['shop', 'shop:', 'shop2', 'a b\nc', '*', 'é'];
    const shops = await Promise.all(
      prefixes.map((prefix) => Shop.open(clientOf('ioredis', server.port), { prefix })),
    );
    for (const shop of shops) {
      for (const rule of ALGORITHMS) {
        expect(await shop.takes(6, rule)).toBe('yes, yes, yes, yes, yes, quota');
      }
    }
    expect(await server.send('DBSIZE')).toBe(prefixes.length * ALGORITHMS.length);
  });

  it("leave another application's keys alone", async () => {
    await server.send('FLUSHALL');
    const others = ['shop', 'shop:', 'shop:alice', 'shop:{alice}', '{alice}', 'alice'];
    for (const key of others) await server.send('SET', key, 'theirs');
    const shop = await Shop.open(clientOf('ioredis', server.port), { prefix: 'shop' });
    for (const rule of ALGORITHMS) await shop.take(rule);
    await shop.store.reset(shop.entry(ALGORITHMS[0]).counters);
    for (const key of others) expect(await server.send('GET', key)).toBe('theirs');
  });

  it('share counters where they are one, whatever client is beneath', async () => {
    const [first, second] = await Promise.all(
      CLIENTS.map((name) => Shop.open(clientOf(name, server.port), { prefix: 'one' })),
    );
    for (const rule of ALGORITHMS) {
      expect(await first!.takes(3, rule)).toBe('yes, yes, yes');
      expect(await second!.takes(3, rule)).toBe('yes, yes, quota');
    }
  });

  it('are as given, also where the client puts one of its own before its keys', async () => {
    await server.send('FLUSHALL');
    const client = new Redis({ port: server.port, keyPrefix: 'theirs:', lazyConnect: true });
    const shop = await Shop.open(client, { prefix: 'mine' });
    await shop.take(ALGORITHMS[0]);
    expect(await server.send('KEYS', '*')).toEqual([expect.stringMatching(/^mine:\{alice\}/)]);
  });
});
