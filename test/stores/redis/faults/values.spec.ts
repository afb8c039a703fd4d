import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { ALGORITHMS, clientOf, Shop, waitOf, wordsOf } from './support.js';

/** What may stand where a counter was meant to be: each by the commands that put it there. */
const FOREIGN: Readonly<Record<string, (key: string) => (string | number)[]>> = {
  'a hash': (key) => ['HSET', key, 'field', 'value'],
  'a set': (key) => ['SADD', key, 'member'],
  'a sorted set': (key) => ['ZADD', key, 1, 'member'],
  'a stream': (key) => ['XADD', key, '*', 'field', 'value'],
  'a list of words': (key) => ['RPUSH', key, 'some', 'words'],
  'a list with a word at its end': (key) => ['RPUSH', key, '1700000000000', 'word'],
  'a list with a word in its middle': (key) => ['RPUSH', key, '1', 'word', 'word', 'word', '2'],
  'a list of a block and a word': (key) => ['RPUSH', key, 'b1700000000000', 'word'],
  'an empty text': (key) => ['SET', key, ''],
  'a word': (key) => ['SET', key, 'rubbish'],
  'a word that begins as a block does': (key) => ['SET', key, 'bananas'],
  'a block without its end': (key) => ['SET', key, 'b'],
  'a block and a word': (key) => ['SET', key, 'b9999999999999 word'],
  'a number that was cut off': (key) => ['SET', key, '17000'],
  'two numbers': (key) => ['SET', key, '1700000000000 5'],
  'three numbers': (key) => ['SET', key, '1700000000000 5 7'],
  'three numbers, the last cut off': (key) => ['SET', key, '1700000000000 5 '],
  'four numbers': (key) => ['SET', key, '1 2 3 4'],
  'no number': (key) => ['SET', key, 'nan'],
  infinity: (key) => ['SET', key, 'inf'],
  'a negative number': (key) => ['SET', key, '-5'],
  'a number of 300 digits': (key) => ['SET', key, '9'.repeat(300)],
  'three numbers of 300 digits': (key) => ['SET', key, Array(3).fill('9'.repeat(300)).join(' ')],
  'a part of nothing': (key) => ['SET', key, '9999999999999 1 0'],
  'bytes that are no text': (key) => ['SET', key, '\u0000\u0001\r\n\u00ff'],
  'a megabyte': (key) => ['SET', key, '1'.repeat(1_000_000)],
};

/** Decided by Redis, or without it; and quickly. */
const WORDS = /^(yes|quota|blocked|~yes)$/;

describeWithRedis('a key that holds what no limiter wrote', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  const CASES = Object.entries(FOREIGN).flatMap(([name, put]) =>
    ALGORITHMS.map((rule) => ({ name, rule, put })),
  );

  /** A store, and the key of alice's counter. */
  async function open(rule: string): Promise<{ shop: Shop; key: string }> {
    const shop = await Shop.open(clientOf('ioredis', server.port), { timeoutMillis: 1000 });
    await shop.take(rule);
    const [key] = (await server.send('KEYS', `${shop.prefix}:*`)) as string[];
    await server.send('DEL', key!);
    return { shop, key: key! };
  }

  it.each(CASES)('is decided: $name, $rule', async ({ rule, put }) => {
    const { shop, key } = await open(rule);
    await server.send(...put(key));
    const single = await waitOf(() => shop.take(rule));
    expect(wordsOf(single.answer)).toMatch(WORDS);
    expect(single.millis).toBeLessThan(500);
    await server.send('DEL', key);
    await server.send(...put(key));
    // Whoever asks together with it is not harmed: in one call of the quick script, and of the other.
    const together = await Promise.all(
      ['bob', 'alice', 'carol'].map((who) => shop.take(rule, who)),
    );
    const [bob, alice, carol] = together.map(wordsOf);
    expect([bob, carol]).toEqual(['yes', 'yes']);
    expect(alice).toMatch(WORDS);
    await server.send('DEL', key);
    await server.send(...put(key));
    const mixed = await Promise.all([shop.peek(rule), shop.take(rule, 'dave'), shop.take(rule)]);
    expect(wordsOf(mixed[1]!)).toBe('yes');
    for (const one of mixed) expect(wordsOf(one)).toMatch(WORDS);
    // It is the key that is at fault, and not Redis.
    expect(shop.events.filter((event) => event !== 'warning UNREADABLE')).toEqual([]);
    const { counters } = shop.entry(rule);
    await shop.store.reset(counters);
    await shop.store.block(counters, 0, shop.now);
    expect(await shop.takes(6, rule)).toBe('yes, yes, yes, yes, yes, quota');
  });

  it('is decided alike by both scripts', async () => {
    const differences: string[] = [];
    for (const { name, rule, put } of CASES) {
      const { shop, key } = await open(rule);
      await server.send(...put(key));
      const general = wordsOf(await shop.peek(rule));
      await server.send('DEL', key);
      await server.send(...put(key));
      const quick = wordsOf(await shop.take(rule));
      if (general !== quick) differences.push(`${name}, ${rule}: ${quick}, peeked ${general}`);
      await shop.store.close();
    }
    expect(differences).toEqual([]);
  });

  it.each(ALGORITHMS)(
    'has an end again after the next take where it had none: %s',
    async (rule) => {
      const { shop, key } = await open(rule);
      expect(await shop.takes(2, rule)).toBe('yes, yes');
      await server.send('PERSIST', key);
      expect(await shop.takes(4, rule)).toBe('yes, yes, yes, quota');
      expect(await server.send('PTTL', key)).toBeGreaterThan(0);
    },
  );
});
