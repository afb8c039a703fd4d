import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Clock, type RateLimitEvent, RateLimitService } from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import request from 'supertest';
import { describeWithRedis, RedisServer } from '../../test/support/redis-server.js';
import { until } from '../../test/support/until.js';
import { createAdapter } from '../src/adapter.js';
import { AppModule } from '../src/app.module.js';
import { MailService } from '../src/mail/mail.service.js';

/** 5 s into a box of 10 s and of a minute. */
const START = 1_700_000_045_000;

const bearer = (user: string) => ({ Authorization: `Bearer ${user}` });
const turn = () => new Promise((resolve) => setImmediate(resolve));

let redis: RedisServer;

const STORES = [
  ['memory', describe],
  ['redis', describeWithRedis],
] as const;

describe.each(['express', 'fastify'])('the policies of the shop on %s', (adapter) => {
  for (const [store, block] of STORES)
    block(`counted in ${store}`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'shop-'));
      const rulesFile = join(folder, 'limits.properties');
      let app: INestApplication;
      let clock: FakeClock;
      let limits: RateLimitService;
      let http: ReturnType<typeof request>;

      beforeAll(async () => {
        if (store === 'redis') redis = await RedisServer.start();
      });

      beforeEach(async () => {
        writeFileSync(rulesFile, '# nothing yet\n');
        process.env['STORE'] = store;
        process.env['RULES_FILE'] = rulesFile;
        if (store === 'redis') {
          process.env['REDIS_URL'] = `redis://127.0.0.1:${redis.port}`;
          process.env['REDIS_TIMEOUT_MILLIS'] = '10000';
          await redis.send('FLUSHALL');
        }
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
        limits = app.get(RateLimitService);
      });

      afterEach(() => app.close());

      afterAll(async () => {
        if (store === 'redis') await redis.stop();
        for (const name of ['STORE', 'RULES_FILE', 'REDIS_URL', 'REDIS_TIMEOUT_MILLIS']) {
          delete process.env[name];
        }
        rmSync(folder, { recursive: true });
      });

      async function statuses(times: number, send: () => request.Test): Promise<number[]> {
        const seen: number[] = [];
        for (let i = 0; i < times; i++) seen.push((await send()).status);
        return seen;
      }

      const orders = (user: string) => http.get('/orders').set(bearer(user));
      const allowedOf = async (times: number, send: () => request.Test) =>
        (await statuses(times, send)).filter((status) => status < 400).length;

      it('limit an address and an API key at once, and tell the key to nobody', async () => {
        const items = (key: string) => http.get('/catalogue').set('X-Api-Key', key);
        const events: string[] = [];
        limits.decisions$.subscribe((event) => events.push(JSON.stringify(event)));
        expect(await allowedOf(12, () => items('k-secret-1'))).toBeLessThanOrEqual(11);
        const refused = await http.get('/limits/why').query({ api: '/catalogue', ip: '127.0.0.1' });
        expect(refused.body.rules[0]).toMatchObject({
          by: ['ip'],
          countedBy: { ip: '127.0.0.1' },
          limit: 10,
        });
        expect(events.join()).not.toContain('k-secret-1');
      });

      it('give a paying user more of everything but the login', async () => {
        expect(await allowedOf(8, () => orders('free-1'))).toBe(5);
        expect(await allowedOf(24, () => orders('pro-1'))).toBe(20);
        expect(await allowedOf(54, () => orders('corp-1'))).toBe(50);
        const login = () =>
          http.post('/login').set(bearer('pro-1')).send({ name: 'pro-1', password: 'secret' });
        expect(await allowedOf(3, login)).toBe(2);
      });

      it('hold all users of a tenant to what its table says, together', async () => {
        expect(await allowedOf(2, () => orders('ann@acme'))).toBe(2);
        expect(await allowedOf(2, () => orders('bob@acme'))).toBe(1);
        expect(await allowedOf(4, () => orders('eve@globex'))).toBe(4);
      });

      it('count a day of a user on all routes together', async () => {
        await limits.check('alice', 'anything', {
          policy: 'fixed-window,1000,1d,by=user,name=daily',
          cost: 999,
        });
        expect((await orders('alice')).status).toBe(200);
        const refused = await http.get('/reports/sales').set(bearer('alice'));
        expect(refused.status).toBe(429);
        expect(refused.body.policy).toBe('daily');
      });

      it('count wrong codes only, and of many at once try no more than five', async () => {
        const code = (text: string) => http.post('/login/code').send({ code: text });
        expect(await allowedOf(4, () => code('123456'))).toBe(4);
        await until('the right codes come back', async () => (await left('wrong-codes')) === 5);
        const guesses = await Promise.all(Array.from({ length: 50 }, () => code('000000')));
        expect(guesses.filter(({ status }) => status === 401)).toHaveLength(5);
        expect(guesses.filter(({ status }) => status === 429)).toHaveLength(45);
        expect((await code('123456')).status).toBe(429);
      });

      const left = async (policy: string) => {
        const why = await http
          .get('/limits/why')
          .query({ api: 'POST /login/code', ip: '127.0.0.1', user: '' });
        return why.body.rules.find((rule: { policy: string }) => rule.policy === policy)?.remaining;
      };

      it('settle the tokens of an answer', async () => {
        const ask = (prompt: string) =>
          http.post('/assistant').set(bearer('alice')).send({ prompt });
        expect((await ask('hello')).status).toBe(201);
        const tokens = async () =>
          (await limits.explain('alice', '/assistant')).rules.find(
            ({ policy }) => policy === 'tokens',
          )?.remaining;
        await until('the estimate comes back', async () => (await tokens()) === 990);
        expect((await ask('x'.repeat(950))).status).toBe(429);
      });

      it('let the mails of a queue wait for their turn', async () => {
        const to = ['ann', 'bob', 'eve', 'joe', 'kim'];
        expect((await http.post('/mails').send({ to })).status).toBe(202);
        const sent = async () => app.get(MailService).sent;
        if (store === 'memory') {
          for (const number of [2, 3, 4, 5]) {
            await turn();
            expect(await sent()).toEqual(to.slice(0, number));
            clock.advance(500);
          }
        } else {
          // The server's time goes on by itself, and this clock only wakes who waits.
          const all = async () => {
            clock.advance(100);
            return (await sent()).length === 5;
          };
          await until('all mails are sent', all);
          expect(await sent()).toEqual(to);
        }
      });

      it('try a rule in shadow, and put it in force by a file, without a deploy', async () => {
        const events: RateLimitEvent[] = [];
        limits.events$.subscribe((event) => events.push(event));
        const look = () => http.get('/recommendations').set(bearer('alice'));
        expect(await allowedOf(4, look)).toBe(4);
        await until('it would refuse', () => events.some(({ type }) => type === 'would-refuse'));
        const reloaded = () => events.some(({ type }) => type === 'reloaded');
        const poll = () => {
          clock.advance(1000);
          return reloaded();
        };
        writeFileSync(rulesFile, 'policy.recommendations = token-bucket,3,10\n');
        await until('the file is in force', poll);
        expect(await allowedOf(4, () => http.get('/recommendations').set(bearer('bob')))).toBe(3);
      });

      it('tell why somebody was limited', async () => {
        await statuses(6, () => orders('pro-1'));
        const why = await http.get('/limits/why').query({ user: 'pro-1', api: 'GET /orders' });
        expect(why.body).toMatchObject({
          userId: 'pro-1',
          api: '/orders',
          mode: 'enforce',
          tier: { name: 'pro', ageMillis: 0 },
          allowed: true,
          rules: [
            {
              policy: 'tier:pro',
              rule: 'token-bucket,20,10s',
              place: 'tier:pro',
              by: ['user', 'api'],
              countedBy: { user: 'pro-1', api: '/orders' },
            },
            { policy: 'address', by: ['ip'] },
            { policy: 'daily', countedBy: { user: 'pro-1' }, remaining: 994 },
          ],
        });
      });

      it('list every handler with its limits', async () => {
        const all: { route: string; limits: { rule: string }[]; skipped: boolean }[] = (
          await http.get('/limits')
        ).body;
        const of = (route: string) => all.find((one) => one.route === route);
        expect(of('GET /reports/export')?.limits[0]?.rule).toBe('sliding-window-counter,10,1h');
        expect(of('GET /health')).toMatchObject({ skipped: true, limits: [] });
        const { body } = await http.get('/limits/utilisation');
        expect(Array.isArray(body)).toBe(true);
      });
    });
});
