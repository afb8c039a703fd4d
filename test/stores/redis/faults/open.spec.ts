import { freePort } from '../../../support/free-port.js';
import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { ALGORITHMS, CLIENTS, clientOf, instantOf, Shop, wordsOf } from './support.js';

const [RULE] = ALGORITHMS;
const DENY = 'fixed-window,100,365d,onStoreError=deny';
const LOCAL = 'fixed-window,2,365d,onStoreError=local';

describeWithRedis.each(CLIENTS)('a breaker, under %s', (client) => {
  let server: RedisServer;
  let shop: Shop;

  beforeEach(async () => {
    server = await RedisServer.start();
    shop = await Shop.open(clientOf(client, server.port), { timeoutMillis: 250 });
  });
  afterEach(() => server.stop());

  /** How many calls of scripts the server has met. */
  async function calls(): Promise<number> {
    const stats = String(await server.send('INFO', 'commandstats'));
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  }

  it('lets exactly one through when it is half-open, and all when that came back', async () => {
    expect(wordsOf(await shop.take(DENY))).toBe('yes');
    await server.send('REPLICAOF', '127.0.0.1', '1');
    await until('it is open', async () => {
      await shop.take(DENY);
      return shop.events.at(-1) === 'breaker open';
    });
    await server.send('REPLICAOF', 'NO', 'ONE');
    await until('there is a connection', () => shop.store.connected);
    const before = await calls();
    expect(await shop.takes(5, DENY)).toBe(Array(5).fill('~store').join(', '));
    shop.skipSecond();
    const all = await Promise.all(Array.from({ length: 50 }, () => shop.take(DENY)));
    expect(all.map(wordsOf)).toEqual(['yes', ...Array(49).fill('~store')]);
    expect(await calls()).toBe(before + 1);
    const next = await Promise.all(Array.from({ length: 50 }, () => shop.take(DENY)));
    expect(next.map(wordsOf)).toEqual(Array(50).fill('yes'));
    expect((await shop.peek(DENY)).remaining).toBe(100 - 52);
  });

  it('asks once a second, however long it lasts, and never more', async () => {
    await server.send('CONFIG', 'SET', 'maxmemory', '1');
    await until('it is open', async () => {
      await shop.take(RULE);
      return shop.events.at(-1) === 'breaker open';
    });
    const before = await calls();
    for (let second = 1; second <= 5; second++) {
      shop.skipSecond();
      for (let i = 0; i < 10; i++) expect(wordsOf(await shop.take(RULE))).toBe('~yes');
      expect(await calls()).toBe(before + second);
    }
    expect(shop.events.filter((event) => event === 'failed')).toHaveLength(1);
  });

  it('is no matter of a process that stood still itself', async () => {
    await shop.take(RULE, 'bob');
    for (let i = 0; i < 3; i++) {
      const asked = shop.take(RULE);
      // The question is on its way after a tick and a turn, as node-redis writes in the next; and its
      // time is over when the answer is read.
      await new Promise(process.nextTick);
      await new Promise(setImmediate);
      for (const from = performance.now(); performance.now() < from + 300; ) {
        // Nothing else runs.
      }
      expect(wordsOf(await asked)).toBe('yes');
    }
    expect(shop.events).toEqual([]);
  });
});

describeWithRedis('a Redis that fails now and then', () => {
  let server: RedisServer;
  let proxy: TcpProxy;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.to(server.port);
  });
  afterEach(async () => {
    await server.stop();
    await proxy.stop();
  });

  it('is told of as one failure', async () => {
    const shop = await Shop.open(clientOf('ioredis', proxy.port), { timeoutMillis: 1000 });
    const failed = jest.fn();
    shop.store.onEvent(({ type }) => type === 'failed' && failed());
    await shop.take(RULE);
    for (let i = 0; i < 4; i++) {
      proxy.dropNextReply('EVALSHA');
      expect(wordsOf(await shop.take(RULE, `user-${i}`))).toBe('~yes');
      await until('there is a connection', () => shop.store.connected);
      expect(wordsOf(await shop.take(RULE, 'bob'))).toBe('yes');
    }
    expect(shop.events).toEqual(['failed']);
    shop.skipSecond();
    expect(wordsOf(await shop.take(RULE, 'carol'))).toBe('yes');
    expect(shop.events).toEqual(['failed', 'recovered']);
  });
});

describe('the first share', () => {
  it('costs nobody a wait, though its memory is set aside then', async () => {
    // The first of the process also compiles what it runs, and the machine has other things to do.
    let least = Number.POSITIVE_INFINITY;
    let control = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 60 && least > 1; i++) {
      const shop = new Shop(clientOf('ioredis', await freePort()));
      await shop.untilOpen(RULE);
      const { answer, millis, atOnce } = await instantOf(() => shop.take(LOCAL));
      expect([wordsOf(answer), atOnce]).toEqual(['~yes', true]);
      least = Math.min(least, millis);
      control = Math.min(control, millisOfSettingAside());
    }
    expect(least).toBeLessThanOrEqual(1 + control);
  });
});

/** As much memory as that of the local counters, in which nothing is done. */
function millisOfSettingAside(): number {
  const began = performance.now();
  const memory = new Float64Array(new SharedArrayBuffer(100_000 * 24));
  for (let i = 0; i < memory.length; i += 512) memory[i] = 1;
  return performance.now() - began;
}
