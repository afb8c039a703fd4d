import { get as request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Post } from '@nestjs/common';
import {
  Clock,
  type DecisionEvent,
  LimiterFactory,
  MemoryStore,
  RateLimit,
  RateLimitConfigError,
} from 'nestjs-doorman';
import { turn, WatchedClock } from '../core/waiting.js';
import { until } from '../support/until.js';
import { ADAPTERS, type AdapterName, left, SlowStore, START, start, userOf } from './support.js';

const ALICE = { 'x-user': 'alice' };

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('token-bucket,2,1,wait=600ms')
  @Post('smooth')
  smooth() {
    return {};
  }

  @RateLimit('token-bucket,1,1,wait=5s & fixed-window,3,1m')
  @Get('joined')
  joined() {
    return {};
  }

  @RateLimit('token-bucket,1,1,wait=5s & fixed-window,2,10,wait=900ms')
  @Get('both')
  both() {
    return {};
  }
}

/** An application on a clock that knows who sleeps on it, and how many requests came. */
async function open(adapter: AdapterName, limits: object) {
  const clock = new WatchedClock(START);
  let arrived = 0;
  const user = (req: Parameters<typeof userOf>[0]) => {
    arrived++;
    return userOf(req);
  };
  const running = await start(adapter, {
    limits: { user, ...limits },
    controllers: [Shop],
    override: (builder) => builder.overrideProvider(Clock).useValue(clock),
  });
  /** Sends it, and goes on when the guard has seen it. */
  const send = async (path: string, method: 'get' | 'post' = 'get') => {
    const before = arrived;
    const answer = running.http[method](path)
      .set(ALICE)
      .then((response) => Object.assign(response, { at: clock.nowMillis() - START }));
    await until('the guard sees it', () => arrived > before);
    await turn();
    return { answer };
  };
  return { ...running, clock, send };
}

describe.each(ADAPTERS)('acquire of the service on %s', (adapter) => {
  it('waits for what the guard spends, first come first served', async () => {
    const { service, clock, http } = await open(adapter, {
      rules: { default: 'token-bucket,2,2' },
    });
    for (let i = 0; i < 2; i++) await http.get('/plain').set(ALICE);
    const told: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      void service
        .acquire('alice', '/plain', { timeoutMillis: 2000 })
        .then(({ allowed, retryAfterMillis }) => {
          told.push(`${clock.nowMillis() - START} ${name} ${allowed} ${retryAfterMillis}`);
        });
    }
    await turn();
    expect(told).toEqual(['0 c false 1000']);
    await clock.pass(2000);
    expect(told.slice(1)).toEqual(['1000 a true 0', '2000 b true 0']);
    expect(clock.asleep).toBe(0);
  });

  it('is told to whoever listens as one decision', async () => {
    const { service, clock } = await open(adapter, { rules: { default: 'token-bucket,1,1' } });
    const events: DecisionEvent[] = [];
    service.decisions$.subscribe((event) => events.push(event));
    for (let i = 0; i < 3; i++) void service.acquire('alice', '/plain', { timeoutMillis: 1000 });
    await turn();
    await clock.pass(1000);
    expect(events.map(({ userId, decision }) => [userId, decision.allowed])).toEqual([
      ['alice', true],
      ['alice', false],
      ['alice', true],
    ]);
  });
});

describe('acquire of the service', () => {
  const serve = (limits: object) => open('express', limits);

  it('takes the options of check', async () => {
    const { service } = await serve({ rules: { default: 'fixed-window,9,10' } });
    const decision = await service.acquire(undefined, 'mail', {
      cost: 3,
      dimensions: { ip: '192.0.2.1' },
      policy: 'fixed-window,5,10',
    });
    expect(decision).toMatchObject({ allowed: true, limit: 5, remaining: 2, policy: 'inline' });
    const { dimensions, policy } = { dimensions: { ip: '192.0.2.1' }, policy: 'fixed-window,5,10' };
    expect((await service.peek(undefined, 'mail', { dimensions, policy })).remaining).toBe(2);
  });

  it('lets in at once where nothing is limited, but not who gave up', async () => {
    const { service } = await serve({});
    expect((await service.acquire('alice', 'mail')).policy).toBe('unlimited');
    const signal = AbortSignal.abort('enough');
    await expect(service.acquire('alice', 'mail', { signal })).rejects.toBe('enough');
  });

  it.each([
    ['a cost below 0', { cost: -1 }, RangeError],
    ['a timeout below 0', { timeoutMillis: -1 }, RangeError],
    ['a timeout as text', { timeoutMillis: '5' as never }, RangeError],
    ['a faulty policy', { policy: 'fixed-window,0,10' as string }, RateLimitConfigError],
  ])('rejects for %s, and takes nothing', async (_, options, kind) => {
    const { service } = await serve({ rules: { default: 'fixed-window,9,10' } });
    await expect(service.acquire('alice', 'mail', options)).rejects.toThrow(kind);
    expect((await service.peek('alice', 'mail')).remaining).toBe(9);
  });

  it('wakes who waits for a counter that is reset', async () => {
    const { service } = await serve({ rules: { default: 'fixed-window,1,1h' } });
    await service.check('alice', 'mail');
    const waiting = service.acquire('alice', 'mail', { timeoutMillis: 1e7 });
    await turn();
    await service.reset('bob', 'mail');
    await service.reset('alice', 'mail');
    expect((await waiting).allowed).toBe(true);
    expect((await service.peek('alice', 'mail')).remaining).toBe(0);
  });

  it('does as a rule has it when the store fails, without waiting', async () => {
    class Broken extends SlowStore {
      override async decide(): Promise<never> {
        throw new Error('away');
      }
    }
    const { service, clock } = await serve({ store: new Broken(new MemoryStore()) });
    const ask = (policy: string) => service.acquire('alice', 'mail', { policy });
    expect(await ask('fixed-window,1,10')).toMatchObject({ allowed: true, degraded: true });
    expect(await ask('fixed-window,1,10,onStoreError=deny')).toMatchObject({ reason: 'store' });
    const local = 'token-bucket,1,1,onStoreError=local';
    expect((await ask(local)).allowed).toBe(true);
    const waiting = ask(local);
    await turn();
    expect(clock.asleep).toBe(1);
    await clock.pass(1000);
    expect(await waiting).toMatchObject({ allowed: true, degraded: true });
  });

  it('refuses who waits when the application shuts down, also of limiters of the factory', async () => {
    const { service, app, clock } = await serve({ rules: { default: 'token-bucket,1,1' } });
    const limiter = app.get(LimiterFactory).createKeyed('token-bucket,1,1');
    limiter.tryAcquire('alice');
    await service.check('alice', 'mail');
    const waiting = [service.acquire('alice', 'mail'), limiter.acquire('alice')];
    await turn();
    clock.advance(300);
    await app.close();
    for (const one of waiting) {
      expect(await one).toMatchObject({ allowed: false, retryAfterMillis: 700 });
    }
    expect(clock.asleep).toBe(0);
  });

  it('lets at most maxWaiters wait', async () => {
    const { service, clock } = await serve({
      rules: { default: 'token-bucket,1,1' },
      maxWaiters: 1,
    });
    await service.check('alice', 'mail');
    const waiting = service.acquire('alice', 'mail');
    expect((await service.acquire('alice', 'mail')).allowed).toBe(false);
    await clock.pass(1000);
    expect((await waiting).allowed).toBe(true);
  });
});

describe.each(ADAPTERS)('a rule that waits on %s', (adapter) => {
  it.each(['at once', 'later'])('serves by waiting, with a store that answers %s', async (kind) => {
    const store = kind === 'later' ? new SlowStore(new MemoryStore()) : new MemoryStore();
    const { send, clock } = await open(adapter, { store });
    for (let i = 0; i < 2; i++) expect(left(await (await sent(send, 'post')).now())).toBe(1 - i);
    const third = await sent(send, 'post');
    const fourth = await (await sent(send, 'post')).now();
    expect(fourth.status).toBe(429);
    expect(fourth.headers['retry-after']).toBe('1');
    expect(fourth.body.retryAfterMillis).toBe(500);
    await clock.pass(500);
    expect(await third.now()).toMatchObject({ status: 201, at: 500 });
    expect(clock.asleep).toBe(0);
  });

  it('refuses at once where a rule refuses that does not wait', async () => {
    const { send, clock } = await open(adapter, {});
    expect((await (await sent(send, 'get', '/joined')).now()).status).toBe(200);
    for (let i = 0; i < 2; i++) {
      const waiting = await sent(send, 'get', '/joined');
      await clock.pass(1000);
      expect((await waiting.now()).status).toBe(200);
    }
    const refused = await (await sent(send, 'get', '/joined')).now();
    expect(refused).toMatchObject({ status: 429, at: 2000 });
    expect(clock.asleep).toBe(0);
  });

  it('waits no longer than the smallest wait of the rules that refuse', async () => {
    const { send, clock } = await open(adapter, {});
    expect((await (await sent(send, 'get', '/both')).now()).status).toBe(200);
    const waiting = await sent(send, 'get', '/both');
    await clock.pass(1000);
    expect((await waiting.now()).status).toBe(200);
    const refused = await (await sent(send, 'get', '/both')).now();
    expect(refused).toMatchObject({ status: 429, at: 1000 });
    expect(refused.body.retryAfterMillis).toBe(4000);
  });

  it('stops when the client goes away, which has taken nothing', async () => {
    const { send, clock, app, service } = await open(adapter, {});
    for (let i = 0; i < 2; i++) await (await sent(send, 'post')).now();
    const { port } = app.getHttpServer().address() as AddressInfo;
    const client = request({ port, path: '/smooth', method: 'POST', headers: ALICE });
    client.on('error', () => undefined);
    client.end();
    await until('it waits', () => clock.asleep === 1);
    client.destroy();
    await until('it is let go', () => clock.asleep === 0);
    clock.advance(500);
    expect((await service.peek('alice', 'POST /smooth')).remaining).toBe(1);
  });

  it('refuses when the application shuts down', async () => {
    const { send, app, clock } = await open(adapter, {});
    for (let i = 0; i < 2; i++) await (await sent(send, 'post')).now();
    const waiting = await sent(send, 'post');
    expect(clock.asleep).toBe(1);
    await app.close();
    expect((await waiting.now()).status).toBe(429);
  });

  it('is asked by check without waiting', async () => {
    const { service } = await open(adapter, {});
    const policy = 'token-bucket,1,1,wait=5s';
    expect((await service.check('alice', 'mail', { policy })).allowed).toBe(true);
    expect(service.checkSync('alice', 'mail', { policy }).retryAfterMillis).toBe(1000);
  });
});

type Send = Awaited<ReturnType<typeof open>>['send'];

/** A request that was sent; `now` is its answer. */
async function sent(send: Send, method: 'get' | 'post', path = '/smooth') {
  const { answer } = await send(path, method);
  return { now: () => answer };
}
