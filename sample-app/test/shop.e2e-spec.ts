import { readFileSync } from 'node:fs';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Clock, RateLimitService } from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import request from 'supertest';
import { createAdapter } from '../src/adapter.js';
import { AppModule } from '../src/app.module.js';
import { walkthrough } from '../src/walkthrough.js';

/** 5 s into a box of 10 s and of a minute. */
const START = 1_700_000_045_000;

const bearer = (user: string) => ({ Authorization: `Bearer ${user}` });

/** The values of a header as they went over the wire, one for each time that it stands there. */
function valuesOf(response: request.Response, name: string): string[] {
  const raw: string[] = (response as unknown as { res: { rawHeaders: string[] } }).res.rawHeaders;
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === name.toLowerCase());
}

const LIMIT_HEADERS = [
  'ratelimit-policy',
  'ratelimit',
  'retry-after',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

describe.each(['express', 'fastify'])('the shop on %s', (adapter) => {
  let app: INestApplication;
  let clock: FakeClock;
  let http: ReturnType<typeof request>;

  beforeEach(async () => {
    clock = new FakeClock(START);
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    app = module.createNestApplication(createAdapter(adapter), { logger: false });
    await app.init();
    await app.getHttpAdapter().getInstance().ready?.();
    await app.listen(0, '127.0.0.1');
    http = request(app.getHttpServer());
  });

  afterEach(() => app.close());

  async function statuses(times: number, send: () => request.Test): Promise<number[]> {
    const seen: number[] = [];
    for (let i = 0; i < times; i++) seen.push((await send()).status);
    return seen;
  }

  const list = (user: string) => http.get('/orders').set(bearer(user));
  const order = (user: string) => http.post('/orders').set(bearer(user)).send({ item: 'tea' });
  const login = (name: string) => http.post('/login').send({ name, password: 'secret' });

  it('refuses the sixth order, and says in headers and body when to come back', async () => {
    expect(await statuses(5, () => order('alice'))).toEqual([201, 201, 201, 201, 201]);
    const refused = await order('alice');
    expect(refused.status).toBe(429);
    expect(valuesOf(refused, 'RateLimit-Policy')).toEqual([
      '"default";q=5;w=10, "address";q=300;w=60, "daily";q=1000;w=86400',
    ]);
    expect(valuesOf(refused, 'RateLimit')).toEqual([
      '"default";r=0;t=2, "address";r=295;t=1, "daily";r=995;t=6355',
    ]);
    expect(valuesOf(refused, 'Retry-After')).toEqual(['2']);
    expect(valuesOf(refused, 'Cache-Control')).toEqual(['no-store']);
    expect(refused.headers['content-type']).toMatch(/^application\/json/);
    expect(refused.body).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'Too many requests, try again in 2 s',
      policy: 'default',
      retryAfterMillis: 2000,
    });
  });

  it('tells an allowed caller what is left, and nothing of a refusal', async () => {
    const first = await order('alice');
    expect(first.status).toBe(201);
    expect(first.body).toEqual({ id: 1, item: 'tea' });
    expect(valuesOf(first, 'RateLimit-Policy')).toEqual([
      '"default";q=5;w=10, "address";q=300;w=60, "daily";q=1000;w=86400',
    ]);
    expect(valuesOf(first, 'RateLimit')).toEqual([
      '"default";r=4;t=2, "address";r=299;t=1, "daily";r=999;t=6355',
    ]);
    expect(valuesOf(first, 'Retry-After')).toEqual([]);
    expect(valuesOf(first, 'Cache-Control')).toEqual([]);
  });

  it('lets nobody in one millisecond before the hint, and everybody at it', async () => {
    await statuses(5, () => order('alice'));
    const { retryAfterMillis } = (await order('alice')).body;
    expect(retryAfterMillis).toBe(2000);
    clock.advance(retryAfterMillis - 1);
    const early = await order('alice');
    expect(early.status).toBe(429);
    expect(early.body.retryAfterMillis).toBe(1);
    expect(early.headers['retry-after']).toBe('1');
    clock.advance(1);
    expect((await order('alice')).status).toBe(201);
    expect((await order('alice')).status).toBe(429);
  });

  it('refuses the third login within a window, and lets in when the next one begins', async () => {
    expect(await statuses(2, () => login('alice'))).toEqual([200, 200]);
    const refused = await login('alice');
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'Too many requests, try again in 5 s',
      policy: 'api:/login',
      retryAfterMillis: 5000,
    });
    expect(refused.headers['retry-after']).toBe('5');
    clock.advance(4999);
    expect((await login('alice')).status).toBe(429);
    clock.advance(1);
    expect(await statuses(3, () => login('alice'))).toEqual([200, 200, 429]);
  });

  it('counts a failed login as well', async () => {
    const wrong = () => http.post('/login').send({ name: 'alice', password: 'guess' });
    expect(await statuses(3, wrong)).toEqual([401, 401, 429]);
  });

  it('gives vip-1 eight at once, and nobody else', async () => {
    const eight = Array<number>(8).fill(200);
    expect(await statuses(9, () => list('vip-1'))).toEqual([...eight, 429]);
    expect(await statuses(6, () => list('vip-2'))).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('says by whose rule vip-1 was refused', async () => {
    await statuses(8, () => list('vip-1'));
    const refused = await list('vip-1');
    expect(refused.body.policy).toBe('user:vip-1');
    expect(refused.body.retryAfterMillis).toBe(1250);
    expect(refused.headers['retry-after']).toBe('2');
  });

  it('spends both rules of the search or none: a refusal takes nothing from the day', async () => {
    const search = () => http.get('/search').query({ q: 'tea' }).set(bearer('alice'));
    expect(await statuses(3, search)).toEqual([200, 200, 200]);
    const refused = await search();
    expect(refused.status).toBe(429);
    expect(refused.headers['ratelimit']).toBe(
      '"SearchController.search";r=0;t=1, "daily-search";r=997;t=6355, "address";r=297;t=1, "daily";r=997;t=6355',
    );
    expect(refused.headers['ratelimit-policy']).toBe(
      '"SearchController.search";q=3;w=1, "daily-search";q=1000;w=86400, "address";q=300;w=60, "daily";q=1000;w=86400',
    );
    expect(await statuses(5, search)).toEqual([429, 429, 429, 429, 429]);
    clock.advance(334);
    expect((await search()).headers['ratelimit']).toContain('"daily-search";r=996');
  });

  it('never limits the probe, and tells it nothing', async () => {
    const probes = await statuses(20, () => http.get('/health').set(bearer('alice')));
    expect(probes).toEqual(Array<number>(20).fill(200));
    const response = await http.get('/health');
    expect(LIMIT_HEADERS.filter((name) => name in response.headers)).toEqual([]);
    expect(response.body).toEqual({ status: 'ok' });
    expect((await list('alice')).headers['ratelimit']).toContain('"address";r=299');
  });

  it('counts each handler of a limited class apart', async () => {
    const report = (name: string) => () => http.get(`/reports/${name}`).set(bearer('alice'));
    expect(await statuses(3, report('sales'))).toEqual([200, 200, 429]);
    expect(await statuses(3, report('stock'))).toEqual([200, 200, 429]);
    clock.advance(59_999);
    expect((await report('sales')()).status).toBe(429);
    clock.advance(1);
    expect((await report('sales')()).status).toBe(200);
  });

  it('limits by the name of a policy, and not by the rule of the class', async () => {
    const exported = () => http.get('/reports/export').set(bearer('alice'));
    const ten = Array<number>(10).fill(200);
    expect(await statuses(11, exported)).toEqual([...ten, 429]);
    const refused = await exported();
    expect(refused.body.policy).toBe('export');
    expect(refused.headers['ratelimit-policy']).toBe(
      '"export";q=10;w=3600, "address";q=300;w=60, "daily";q=1000;w=86400',
    );
  });

  it('keeps the cache rule of a handler when it allows, and forbids keeping a refusal', async () => {
    const stock = () => http.get('/reports/stock').set(bearer('alice'));
    expect(valuesOf(await stock(), 'Cache-Control')).toEqual(['private']);
    await stock();
    expect(valuesOf(await stock(), 'Cache-Control')).toEqual(['no-store']);
  });

  it('has one counter for /orders/1 and /orders/2', async () => {
    await order('bob');
    const find = (id: number) => () => http.get(`/orders/${id}`).set(bearer('alice'));
    expect(await statuses(3, find(1))).toEqual([200, 200, 200]);
    expect(await statuses(3, find(2))).toEqual([404, 404, 429]);
    expect((await find(1)()).status).toBe(429);
  });

  it('tells two users behind one address apart', async () => {
    await statuses(6, () => list('alice'));
    expect((await list('alice')).status).toBe(429);
    expect(await statuses(5, () => list('bob'))).toEqual([200, 200, 200, 200, 200]);
  });

  it('counts who is not signed in by address, apart from every user', async () => {
    const anonymous = () => http.get('/orders');
    expect(await statuses(6, anonymous)).toEqual([200, 200, 200, 200, 200, 429]);
    expect((await list('alice')).status).toBe(200);
    expect((await list('127.0.0.1')).status).toBe(200);
    expect((await list('@127.0.0.1')).status).toBe(200);
  });

  it('holds one address to 300 a minute, all users and routes together', async () => {
    const service = app.get(RateLimitService);
    for (let i = 0; i < 299; i++) {
      await service.check(`user-${i}`, '/elsewhere', { dimensions: { ip: '127.0.0.1' } });
    }
    expect((await list('alice')).status).toBe(200);
    const refused = await list('bob');
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ policy: 'address', retryAfterMillis: 200 });
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.headers['ratelimit']).toBe(
      '"default";r=5;t=0, "address";r=0;t=1, "daily";r=1000;t=0',
    );
    expect((await http.get('/health')).status).toBe(200);
  });
});

describe('the walk-through', () => {
  const golden = readFileSync(
    new URL('../../test/golden/walkthrough.txt', import.meta.url),
    'utf8',
  );

  it.each([1, 2])('prints exactly the golden file, run %i', async () => {
    let printed = '';
    await walkthrough((line) => {
      printed += `${line}\n`;
    });
    expect(printed).toBe(golden);
  });
});
