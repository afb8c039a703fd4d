import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { CLIENTS, type ClientName, clientOf, Shop, wordsOf } from './support.js';

/** How many were let in, and how many of those without Redis. */
function count(words: string): { redis: number; without: number } {
  const all = words.split(', ');
  return {
    redis: all.filter((word) => word === 'yes').length,
    without: all.filter((word) => word === '~yes').length,
  };
}

/** Every other row under each of the clients: each row restarts a server some times. */
const shareOf = <T>(client: ClientName, rows: readonly T[]) =>
  rows.filter((_, i) => i % CLIENTS.length === CLIENTS.indexOf(client));

describeWithRedis.each(CLIENTS)('what is let in while Redis comes and goes, under %s', (client) => {
  const FLAPS = 2;
  let server: RedisServer;
  let shops: Shop[];

  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => server.stop());

  /** Instances that share their limits ask while Redis is there and while it is not, in turn. */
  async function flap(
    rule: string,
    instances: number,
  ): Promise<{ redis: number; without: number[] }> {
    const open = () =>
      Shop.open(clientOf(client, server.port), { prefix: 'shop', instances, timeoutMillis: 1000 });
    shops = await Promise.all(Array.from({ length: instances }, open));
    const without = shops.map(() => 0);
    let redis = 0;
    const ask = async (some: readonly Shop[], times: number) => {
      for (const shop of some) {
        const counted = count(await shop.takes(times, rule));
        redis += counted.redis;
        without[shops.indexOf(shop)]! += counted.without;
      }
    };
    await ask(shops.slice(0, 1), 1);
    for (let i = 0; i < FLAPS; i++) {
      await server.send('SAVE');
      await server.kill();
      for (const shop of shops) await shop.untilOpen();
      await ask(shops, 4);
      await server.restart({ keepData: true });
      for (const shop of shops) await shop.recovered();
      await ask(shops, 2);
    }
    await ask(shops, 9);
    return { redis, without };
  }

  it.each(
    shareOf(client, [
      ['token-bucket,5,365d', 5],
      ['fixed-window,5,365d', 5],
      ['sliding-window,5,365d', 5],
      ['sliding-window-counter,5,365d', 5],
      ['token-bucket,5,365d,burst=9', 9],
    ] as const),
  )('with deny is the limit, and no more: %s', async (rule, limit) => {
    const { redis, without } = await flap(`${rule},onStoreError=deny`, 2);
    expect(redis).toBe(limit);
    expect(without).toEqual([0, 0]);
  });

  it.each(
    shareOf(client, [
      ['token-bucket,5,365d', 3, 5, 1],
      ['fixed-window,7,365d', 3, 7, 2],
      ['sliding-window,2,365d', 3, 2, 1],
      ['sliding-window-counter,6,365d', 2, 6, 3],
      ['fixed-window,3,365d,count=failures', 2, 3, 1],
    ] as const),
  )('with local is a share more per instance, however often: %s among %i', async (...row) => {
    const [rule, instances, limit, share] = row;
    const local = rule.includes('count=') ? rule : `${rule},onStoreError=local`;
    const { redis, without } = await flap(local, instances);
    expect(redis).toBe(limit);
    expect(without).toEqual(Array(instances).fill(share));
  });

  it('with allow is what came while Redis was away, and says so; it counts on afterwards', async () => {
    const { redis, without } = await flap('fixed-window,5,365d', 2);
    expect(redis).toBe(5);
    // Refusals of the last second are remembered, and are less.
    for (const one of without) expect(one).toBeGreaterThanOrEqual(4);
    for (const one of without) expect(one).toBeLessThanOrEqual(4 * FLAPS);
  });

  it('of joined rules is what the strictest lets in', async () => {
    const shop = await Shop.open(clientOf(client, server.port));
    await server.kill();
    const allow = 'fixed-window,9,365d';
    const local = 'fixed-window,2,365d,onStoreError=local,name=here';
    const deny = 'fixed-window,9,365d,onStoreError=deny,name=strict';
    expect(await shop.takes(3, `${allow} & ${local}`)).toBe('~yes, ~yes, ~quota');
    expect(await shop.takes(2, `${allow} & ${local} & ${deny}`, 'bob')).toBe('~store, ~store');
    expect(wordsOf(await shop.take(`${allow} & ${local}`, 'bob', 2))).toBe('~yes');
    expect(wordsOf(await shop.take(allow, 'carol', 10))).toBe('~never');
    expect(wordsOf(await shop.take(deny, 'carol', 0))).toBe('~yes');
  });
});
