import { Controller, Get } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimit } from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import { createClient } from 'redis';
import { freePort } from '../support/free-port.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { ADAPTERS, byHeader, type Running, start, statuses } from './support.js';

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('fixed-window,2,365d,onStoreError=deny')
  @Get('strict')
  strict() {
    return {};
  }

  @RateLimit('fixed-window,3,365d,onStoreError=local')
  @Get('local')
  local() {
    return {};
  }
}

const RULES = { default: 'fixed-window,2,365d' };
const ALICE = { 'x-user': 'alice' };

const CLIENTS = {
  ioredis: (port: number) => new Redis(port, '127.0.0.1', { lazyConnect: true }),
  'node-redis': (port: number) => createClient({ socket: { host: '127.0.0.1', port } }),
} as const;

const CASES = ADAPTERS.flatMap((adapter) =>
  Object.entries(CLIENTS).map(([name, connect]) => ({ adapter, name, connect })),
);

describeWithRedis.each(CASES)('an application on $adapter with $name', ({ adapter, connect }) => {
  let port: number;
  let server: RedisServer | undefined;

  beforeEach(async () => {
    port = await freePort();
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  async function open() {
    const store = new RedisStore(connect(port), { prefix: 'shop', instances: 3 });
    const limits = byHeader(RULES, { store });
    const running = await start(adapter, { controllers: [Shop], limits });
    return { ...running, store };
  }

  const lines = ({ logs }: Running) => ({
    failed: logs.warnings('redis store failed'),
    recovered: logs.ofLimiter('log').filter((line) => line.includes('redis store decides again')),
    errors: logs.ofLimiter('error'),
  });

  /** Asks as somebody else until Redis decides: then the answer tells a limit. */
  async function recovered({ http, clock }: Running): Promise<void> {
    await until('Redis decides again', async () => {
      clock.advance(1001);
      const { headers } = await http.get('/plain').set('x-user', `user-${Math.random()}`);
      return headers['ratelimit'] !== undefined;
    });
  }

  it('starts, serves and stops while Redis is down', async () => {
    const running = await open();
    expect(await statuses(running, 4, '/plain', ALICE)).toEqual([200, 200, 200, 200]);
    expect(await statuses(running, 4, '/strict', ALICE)).toEqual([503, 503, 503, 503]);
    expect(await statuses(running, 4, '/local', ALICE)).toEqual([200, 429, 429, 429]);
    expect(lines(running)).toEqual({
      failed: [expect.stringContaining('ECONNREFUSED')],
      recovered: [],
      errors: [],
    });
    await running.app.close();
    expect(running.store.connected).toBe(false);
    expect(lines(running).failed).toHaveLength(1);
  });

  it('limits when Redis comes, goes and comes back, without a restart, a line each time', async () => {
    const running = await open();
    expect(await statuses(running, 3, '/plain', ALICE)).toEqual([200, 200, 200]);
    server = await RedisServer.start({ port });
    await recovered(running);
    for (const path of ['/plain', '/strict']) {
      expect(await statuses(running, 3, path, ALICE)).toEqual([200, 200, 429]);
    }
    expect(lines(running)).toMatchObject({ failed: { length: 1 }, recovered: { length: 1 } });
    await server.kill();
    running.clock.advance(1001);
    const bob = { 'x-user': 'bob' };
    expect(await statuses(running, 9, '/plain', bob)).toEqual(Array(9).fill(200));
    expect(lines(running)).toMatchObject({ failed: { length: 2 }, recovered: { length: 1 } });
    await server.restart();
    await recovered(running);
    expect(await statuses(running, 3, '/plain', bob)).toEqual([200, 200, 429]);
    expect(lines(running)).toMatchObject({ failed: { length: 2 }, recovered: { length: 2 } });
    expect(lines(running).errors).toEqual([]);
    await running.app.close();
    await until('its connection is closed', async () => {
      return (await server!.info('connected_clients')) === '1';
    });
    expect(lines(running)).toMatchObject({ failed: { length: 2 }, recovered: { length: 2 } });
  });

  it('says 503 and when to come back where a rule denies, and tells no limit', async () => {
    const running = await open();
    // As many as open the breaker.
    await statuses(running, 6, '/strict', ALICE);
    running.clock.advance(400);
    const { status, headers, body } = await running.http.get('/strict').set(ALICE);
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('1');
    expect(body).toMatchObject({ statusCode: 503, retryAfterMillis: 600 });
    expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
  });

  it('answers while Redis stands still, and stops then', async () => {
    server = await RedisServer.start({ port });
    const running = await open();
    await until('it is connected', () => running.store.connected);
    expect(await statuses(running, 1, '/local', ALICE)).toEqual([200]);
    await server.freeze();
    expect(await statuses(running, 3, '/local', ALICE)).toEqual([200, 429, 429]);
    await running.app.close();
    expect(lines(running).failed).toEqual([expect.stringContaining('did not answer in time')]);
  });
});
