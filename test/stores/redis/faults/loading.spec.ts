import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { until } from '../../../support/until.js';
import { ALGORITHMS, CLIENTS, clientOf, Shop, waitOf, wordsOf } from './support.js';

const [RULE] = ALGORITHMS;

/** So that it loads for a second and answers meanwhile. */
const SLOWLY = ['key-load-delay 5000', 'loading-process-events-interval-bytes 1024'];

describeWithRedis.each(CLIENTS)('a server that is loading its data, under %s', (client) => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await RedisServer.start({ config: SLOWLY });
  });
  afterEach(() => server.stop());

  it('is not asked, and decides with its data once it has them', async () => {
    const shop = await Shop.open(clientOf(client, server.port), { timeoutMillis: 1000 });
    expect(await shop.takes(2, RULE)).toBe('yes, yes');
    const fill = "for i = 1, 200 do redis.call('SET', i, string.rep('x', 1100)) end";
    await server.send('EVAL', fill, 0);
    const restarting = server.restart({ keepData: true });
    await until('it is loading', async () => (await server.info('loading')) === '1');
    const seen = await server.send('GET', 'x').catch(String);
    expect(seen).toContain('LOADING');
    for (let i = 0; i < 20; i++) {
      const { answer, millis } = await waitOf(() => shop.take(RULE));
      expect(wordsOf(answer)).toBe('~yes');
      expect(millis).toBeLessThanOrEqual(110);
    }
    expect(await server.info('loading')).toBe('1');
    expect(shop.events.filter((one) => !one.startsWith('breaker'))).toEqual(['failed']);
    await restarting;
    await shop.recovered();
    expect(await shop.takes(4, RULE)).toBe('yes, yes, yes, quota');
  });
});
