import { Controller, Get, Module } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimit, RateLimitModule, RateLimitStore } from 'nestjs-doorman';
import { RedisStore, type RedisStoreOptions, type RedisTarget } from 'nestjs-doorman/redis';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { ADAPTERS, type Running, start, statuses } from './support.js';

@Controller()
class ShopController {
  @Get('orders')
  orders() {
    return [];
  }

  @RateLimit('fixed-window,2,10,onStoreError=deny')
  @Get('login')
  login() {
    return {};
  }

  @RateLimit('fixed-window,2,10,onStoreError=local')
  @Get('search')
  search() {
    return [];
  }
}

const controllers = [ShopController];
const rules = { default: 'fixed-window,2,10' } as const;

describeWithRedis.each(ADAPTERS)('the module with a Redis store, on %s', (adapter) => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await RedisServer.start();
  });

  afterEach(() => server.stop());

  const url = () => ({ url: `redis://127.0.0.1:${server.port}` });
  const storeOf = (target: RedisTarget, more: Partial<RedisStoreOptions> = {}) =>
    new RedisStore(target, { prefix: 'shop', time: 'clock', timeoutMillis: 2000, ...more });
  const clients = async () => Number(await server.info('connected_clients'));
  const seen = (running: Running) => statuses(running, 3, '/orders');

  async function isLimited(running: Running): Promise<void> {
    expect(await seen(running)).toEqual([200, 200, 429]);
    expect(await server.send('KEYS', '*')).toHaveLength(1);
  }

  it('takes it as the option store, names it at the start, and closes it at the end', async () => {
    process.env['NODE_APP_INSTANCE'] = '1';
    const running = await start(adapter, { controllers, limits: { rules, store: storeOf(url()) } });
    delete process.env['NODE_APP_INSTANCE'];
    await isLimited(running);
    expect(running.logs.ofLimiter('log')).toEqual([expect.stringContaining(', redis store, ')]);
    expect(running.logs.ofLimiter('warn')).toEqual([]);
    expect(await clients()).toBe(2);
    await running.app.close();
    await until('its connection is closed', async () => (await clients()) === 1);
    expect(running.logs.ofLimiter('warn')).toEqual([]);
  });

  it('takes it from a factory that is given a client, which it leaves open', async () => {
    const client = new Redis(server.port);
    @Module({ providers: [{ provide: Redis, useValue: client }], exports: [Redis] })
    class RedisModule {}
    const limits = RateLimitModule.forRootAsync({
      imports: [RedisModule],
      inject: [Redis],
      useFactory: (redis: Redis) => ({ rules, store: storeOf(redis) }),
    });
    const running = await start(adapter, { controllers, imports: [limits] });
    await isLimited(running);
    await running.app.close();
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
  });

  it('takes it in the place of another', async () => {
    const store = storeOf(url());
    const running = await start(adapter, {
      controllers,
      limits: { rules },
      override: (builder) => builder.overrideProvider(RateLimitStore).useValue(store),
    });
    await isLimited(running);
    await running.app.close();
    expect(store.connected).toBe(false);
  });

  it('starts, serves and stops without Redis, does as each rule says, and limits again', async () => {
    const store = storeOf(url(), { timeoutMillis: 50 });
    await server.kill();
    const running = await start(adapter, { controllers, limits: { rules, store } });
    expect(await seen(running)).toEqual([200, 200, 200]);
    expect((await running.http.get('/orders')).headers['ratelimit']).toBeUndefined();
    expect(await statuses(running, 3, '/search')).toEqual([200, 200, 429]);
    const { headers } = await running.http.get('/search').expect(429);
    expect(headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' });
    expect(headers['ratelimit']).toBeUndefined();
    const denied = await running.http.get('/login');
    expect(denied.status).toBe(503);
    expect(denied.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
    expect(denied.headers['ratelimit']).toBeUndefined();
    expect(running.logs.ofLimiter('warn')).toEqual([
      expect.stringMatching(
        /^The redis store failed, and each rule does as its onStoreError says: /,
      ),
    ]);

    await server.restart();
    await until('the store is connected', () => store.connected);
    running.clock.advance(1000);
    await isLimited(running);
    expect(running.logs.ofLimiter('log').slice(1)).toEqual(['The redis store decides again']);
  });
});
