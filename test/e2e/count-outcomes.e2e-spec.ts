import { get as httpGet, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Body,
  type CanActivate,
  Controller,
  Get,
  HttpCode,
  HttpException,
  Param,
  Post,
  Res,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { MemoryStore, RateLimit, RateLimitGuard } from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { ADAPTERS, byHeader, left, type Running, SlowStore, start, statuses } from './support.js';

const ALICE = { 'x-user': 'alice' };

class Closed implements CanActivate {
  canActivate(): boolean {
    throw new UnauthorizedException();
  }
}

let reached = 0;
let arrived: () => void = () => undefined;

@Controller()
class Doors {
  @RateLimit('fixed-window,5,10,count=failures')
  @Post('login')
  @HttpCode(200)
  login(@Body() body: { password?: string } | undefined) {
    reached++;
    if (body?.password !== 'sesame') throw new UnauthorizedException();
    return { token: 'alice' };
  }

  @RateLimit('fixed-window,5,10,count=failures')
  @Get('failures/:status')
  failures(@Param('status') status: string) {
    return answer(status);
  }

  @RateLimit('fixed-window,5,10,count=successes')
  @Get('successes/:status')
  successes(@Param('status') status: string) {
    return answer(status);
  }

  @RateLimit('fixed-window,5,10,count=failures')
  @UseGuards(Closed)
  @Get('guarded')
  guarded() {
    return {};
  }

  @RateLimit('fixed-window,5,10,count=failures')
  @UseGuards(RateLimitGuard, RateLimitGuard)
  @Get('thrice')
  thrice() {
    return {};
  }

  @RateLimit(
    'fixed-window,9,10,name=all',
    'fixed-window,8,10,name=bad,count=failures',
    'fixed-window,7,10,name=good,count=successes',
  )
  @Get('joined/:status')
  joined(@Param('status') status: string) {
    return answer(status);
  }

  @RateLimit('fixed-window,5,10,count=failures')
  @Get('silent')
  silent(@Res() _response: unknown) {
    arrived();
  }

  @RateLimit('fixed-window,5,10,count=failures')
  @Get('late')
  async late(@Res() response: { raw?: { end(): void }; end(): void }) {
    arrived();
    await hungUp;
    (response.raw ?? response).end();
  }
}

let hungUp: Promise<void> = Promise.resolve();

function answer(status: string): object {
  if (status === '200') return {};
  throw new HttpException({}, Number(status));
}

/** A request that its client gives up once it has reached the handler. */
async function hangUp({ app }: Running, path: string): Promise<void> {
  const { port } = app.getHttpServer().address() as AddressInfo;
  const inHandler = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let tell: () => void = () => undefined;
  hungUp = new Promise((resolve) => {
    tell = resolve;
  });
  const closed = new Promise<void>((resolve) => {
    app.getHttpServer().once('request', (_request: unknown, response: ServerResponse) => {
      response.once('close', resolve);
    });
  });
  const request = httpGet({ port, path, headers: ALICE, agent: false });
  request.on('error', () => undefined);
  await inHandler;
  request.destroy();
  await closed;
  tell();
  await new Promise((resolve) => setImmediate(resolve));
}

describe.each(ADAPTERS)('what counts by how a request ended, on %s', (adapter) => {
  const open = (more: object = {}) =>
    start(adapter, { controllers: [Doors], limits: byHeader({}, more) });
  const peek = async ({ service }: Running, path: string) =>
    (await service.peek('alice', path)).remaining;
  const login = (running: Running, password: string) =>
    running.http.post('/login').set(ALICE).send({ password });

  it.each([
    ['a store that answers at once', () => new MemoryStore()],
    ['a store that answers by promise', () => new SlowStore(new MemoryStore())],
  ])('lets five of 200 wrong passwords at once reach the handler, with %s', async (_, store) => {
    const running = await open({ store: store() });
    reached = 0;
    const all = await Promise.all(Array.from({ length: 200 }, () => login(running, 'guess')));
    expect(reached).toBe(5);
    expect(all.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(195);
    expect((await login(running, 'sesame')).status).toBe(429);
    expect(await peek(running, '/login')).toBe(0);
    running.clock.advance(5000);
    expect((await login(running, 'sesame')).status).toBe(200);
  });

  it('lets in who knows the password, however often, until five were wrong', async () => {
    const running = await open();
    for (let i = 0; i < 20; i++) {
      const response = await login(running, 'sesame');
      expect([response.status, left(response)]).toEqual([200, 4]);
    }
    for (let i = 0; i < 4; i++) expect((await login(running, 'guess')).status).toBe(401);
    expect((await login(running, 'sesame')).status).toBe(200);
    expect((await login(running, 'guess')).status).toBe(401);
    expect((await login(running, 'sesame')).status).toBe(429);
  });

  it.each([
    ['failures', '200', 5],
    ['failures', '302', 5],
    ['failures', '400', 4],
    ['failures', '404', 4],
    ['failures', '429', 4],
    ['failures', '499', 4],
    ['failures', '500', 5],
    ['failures', '503', 5],
    ['successes', '200', 4],
    ['successes', '302', 4],
    ['successes', '400', 5],
    ['successes', '499', 5],
    ['successes', '500', 5],
  ])('of count=%s an answer of %s leaves %i', async (count, status, remaining) => {
    const running = await open();
    const response = await running.http.get(`/${count}/${status}`).set(ALICE);
    expect(response.status).toBe(Number(status));
    expect(left(response)).toBe(4); // as it was decided at the door
    expect(await peek(running, `/${count}/:status`)).toBe(remaining);
  });

  it('counts a 401 that a guard throws after ours', async () => {
    const running = await open();
    expect(await statuses(running, 6, '/guarded', ALICE)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await statuses(running, 1, '/guarded', { 'x-user': 'bob' })).toEqual([401]);
  });

  it('gives back once, however often the guard runs', async () => {
    const running = await open();
    for (let i = 0; i < 20; i++) {
      expect(left(await running.http.get('/thrice').set(ALICE))).toBe(4);
    }
    expect(await peek(running, '/thrice')).toBe(5);
  });

  it('settles each of joined rules by itself', async () => {
    const running = await open();
    const remaining = async () => {
      const { rules } = await running.service.peek('alice', '/joined/:status');
      return rules!.map((rule) => rule.remaining);
    };
    await running.http.get('/joined/200').set(ALICE);
    expect(await remaining()).toEqual([8, 8, 6]);
    await running.http.get('/joined/404').set(ALICE);
    expect(await remaining()).toEqual([7, 7, 6]);
    await running.http.get('/joined/500').set(ALICE);
    expect(await remaining()).toEqual([6, 7, 6]);
  });

  it('leaves spent what is closed before it was answered, so that hanging up gains nothing', async () => {
    const running = await open();
    for (let i = 1; i <= 5; i++) {
      await hangUp(running, '/silent');
      expect(await peek(running, '/silent')).toBe(5 - i);
    }
    expect(await statuses(running, 1, '/silent', ALICE)).toEqual([429]);
  });

  it('leaves spent what is answered when nobody is there any more', async () => {
    const running = await open();
    await hangUp(running, '/late');
    expect(await peek(running, '/late')).toBe(4);
  });

  it('gives back a failure of the server while the store is away, where it was taken', async () => {
    class Away extends MemoryStore {
      override decide(): never {
        throw new Error('the cable is out');
      }
    }
    const running = await open({ store: new Away() });
    const seen: number[] = [];
    running.service.decisions$.subscribe(({ decision }) => seen.push(decision.remaining));
    for (const status of ['500', '404', '200', '404']) {
      await running.http.get(`/failures/${status}`).set(ALICE);
    }
    expect(seen).toEqual([4, 4, 3, 3]);
  });
});

describeWithRedis.each(ADAPTERS)(
  'what counts by how a request ended, in Redis, on %s',
  (adapter) => {
    let server: RedisServer;

    beforeAll(async () => {
      server = await RedisServer.start();
    });

    afterAll(() => server.stop());

    it('lets five of 200 wrong passwords at once reach the handler, and gives right ones back', async () => {
      const target = { url: `redis://127.0.0.1:${server.port}` };
      const store = new RedisStore(target, { prefix: adapter, time: 'clock', timeoutMillis: 5000 });
      await until('the store is connected', () => store.connected);
      const limits = byHeader({}, { store });
      const { http, service, clock } = await start(adapter, { controllers: [Doors], limits });
      const login = (password: string) => http.post('/login').set(ALICE).send({ password });
      for (let i = 0; i < 10; i++) expect((await login('sesame')).status).toBe(200);
      await until('all is given back', async () => {
        return (await service.peek('alice', '/login')).remaining === 5;
      });
      reached = 0;
      await Promise.all(Array.from({ length: 200 }, () => login('guess')));
      expect(reached).toBe(5);
      expect((await login('sesame')).status).toBe(429);
      clock.advance(5000);
      expect((await login('sesame')).status).toBe(200);
    });
  },
);
