import { type ArgumentsHost, Catch, Controller, type ExceptionFilter, Get } from '@nestjs/common';
import {
  type Decision,
  MemoryStore,
  type Outcome,
  RateLimit,
  RateLimitExceededException,
  RateLimitStore,
  RateLimitUnavailableException,
  type StoreEntry,
  type StoreEvent,
} from 'nestjs-doorman';
import type { Response } from 'supertest';
import { ADAPTERS, byHeader, type Running, start, statuses } from './support.js';

const ALICE = { 'x-user': 'alice' };

/** How a store can fail: every way is met alike. */
const FAILURES = [
  'rejects',
  'throws',
  'throws what has no text',
  'answers without a decision',
  'resolves to nothing',
] as const;
type Failure = (typeof FAILURES)[number];

/** A store that counts in memory while it works, and fails as it is told. */
class UnsteadyStore extends RateLimitStore {
  readonly name = 'unsteady';
  failure: Failure | undefined;
  asked = 0;
  readonly listeners = new Set<(event: StoreEvent) => void>();
  private readonly inner = new MemoryStore({ maxKeys: 1000 });

  override decide(entries: readonly StoreEntry[], now: number) {
    this.asked++;
    switch (this.failure) {
      case 'rejects':
        return Promise.reject(new Error('the cable is out'));
      case 'throws':
        throw new Error('the cable is out');
      case 'throws what has no text':
        throw Object.create(null);
      case 'answers without a decision':
        return [];
      case 'resolves to nothing':
        return Promise.resolve(undefined as unknown as Outcome[]);
      default:
        return this.answer(entries, now);
    }
  }

  protected answer(entries: readonly StoreEntry[], now: number): readonly Outcome[] {
    return this.inner.decide(entries, now);
  }

  override settle(...args: Parameters<RateLimitStore['settle']>): number {
    return this.inner.settle(...args);
  }

  override async reset(...args: Parameters<RateLimitStore['reset']>): Promise<void> {
    if (this.failure) throw new Error('the cable is out');
    this.inner.reset(...args);
  }

  override block(...args: Parameters<RateLimitStore['block']>): void {
    this.inner.block(...args);
  }

  override onEvent(listener: (event: StoreEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(event: StoreEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('fixed-window,2,10,onStoreError=deny')
  @Get('strict')
  strict() {
    return {};
  }

  @RateLimit('fixed-window,2,10,onStoreError=local')
  @Get('local')
  local() {
    return {};
  }

  @RateLimit('fixed-window,2,10,onStoreError=local,name=here', 'token-bucket,5,10,name=loose')
  @Get('joined')
  joined() {
    return {};
  }

  @RateLimit(
    'fixed-window,2,10,onStoreError=local,name=other',
    'fixed-window,9,1,onStoreError=deny',
  )
  @Get('both')
  both() {
    return {};
  }
}

const RULES = { default: 'fixed-window,2,10' };

/** The headers that tell the limit, in any dialect; `X-Left` is of a dialect of the test's own. */
function limitsTold({ headers }: Response): string[] {
  return Object.keys(headers).filter((name) => /^(x-)?ratelimit|^x-left/i.test(name));
}

const left = (decision: Decision) => ({ 'X-Left': String(decision.remaining) });
const HEADERS = { headers: ['ietf', 'legacy', left] } as const;

describe.each(ADAPTERS)('a store that fails, on %s', (adapter) => {
  const open = async (failure?: Failure, store = new UnsteadyStore()) => {
    store.failure = failure;
    const limits = byHeader(RULES, { store, ...HEADERS });
    const running = await start(adapter, { controllers: [Shop], limits });
    const seen: Decision[] = [];
    running.service.decisions$.subscribe(({ decision }) => seen.push(decision));
    return { ...running, store, seen };
  };
  const get = ({ http }: Pick<Running, 'http'>, path: string) => http.get(path).set(ALICE);
  const told = ({ logs }: Running) => ({
    failed: logs.warnings('unsteady store failed'),
    recovered: logs.ofLimiter('log').filter((line) => line.includes('decides again')),
  });

  describe.each(FAILURES)('because it %s', (failure) => {
    it('lets in what a rule allows, and says nothing of a limit', async () => {
      const running = await open(failure);
      for (let i = 0; i < 5; i++) {
        const response = await get(running, '/plain');
        expect(response.status).toBe(200);
        expect(limitsTold(response)).toEqual([]);
        expect(response.headers).not.toHaveProperty('retry-after');
      }
      expect(running.store.asked).toBe(5);
      expect(running.seen).toHaveLength(5);
      expect(running.seen[4]).toMatchObject({ allowed: true, degraded: true, remaining: 2 });
    });

    it('refuses with a 503 what a rule denies', async () => {
      const running = await open(failure);
      const response = await get(running, '/strict');
      expect(response.status).toBe(503);
      expect(response.body).toEqual({
        statusCode: 503,
        error: 'Service Unavailable',
        message: 'The limit cannot be checked, try again in 1 s',
        policy: 'Shop.strict',
        retryAfterMillis: 1000,
      });
      expect(response.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
      expect(limitsTold(response)).toEqual([]);
    });

    it('counts in this process what a rule counts locally', async () => {
      const running = await open(failure);
      expect(await statuses(running, 2, '/local', ALICE)).toEqual([200, 200]);
      const response = await get(running, '/local');
      expect(response.status).toBe(429);
      expect(response.body).toMatchObject({ policy: 'Shop.local', retryAfterMillis: 5000 });
      expect(response.headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' });
      expect(limitsTold(response)).toEqual([]);
      expect(await statuses(running, 1, '/local', { 'x-user': 'bob' })).toEqual([200]);
      running.clock.advance(5000);
      expect(await statuses(running, 3, '/local', ALICE)).toEqual([200, 200, 429]);
    });

    it('decides joined rules together, each as it says', async () => {
      const running = await open(failure);
      expect(await statuses(running, 3, '/joined', ALICE)).toEqual([200, 200, 429]);
      expect(running.seen[2]).toMatchObject({ reason: 'quota', policy: 'here', degraded: true });
      expect(await statuses(running, 3, '/both', ALICE)).toEqual([503, 503, 503]);
    });

    it('is told of once, and once when it is back', async () => {
      const running = await open(failure);
      await statuses(running, 20, '/plain', ALICE);
      await statuses(running, 5, '/strict', ALICE);
      expect(told(running).failed).toHaveLength(1);
      expect(told(running).failed[0]).toMatch(
        /the cable is out|without a decision|undefined|: \{\}$/,
      );
      running.store.failure = undefined;
      running.clock.advance(1000);
      await statuses(running, 5, '/plain', ALICE);
      expect(told(running)).toMatchObject({ failed: [expect.anything()] });
      expect(told(running).recovered).toHaveLength(1);
      running.store.failure = failure;
      await statuses(running, 2, '/plain', ALICE);
      expect(told(running).failed).toHaveLength(2);
    });
  });

  it('limits again as soon as it works, by what it had counted', async () => {
    const running = await open();
    const first = await get(running, '/plain');
    expect(first.headers['ratelimit']).toBe('"default";r=1;t=5');
    running.store.failure = 'rejects';
    expect(await statuses(running, 3, '/plain', ALICE)).toEqual([200, 200, 200]);
    running.store.failure = undefined;
    const second = await get(running, '/plain');
    expect(second.headers).toMatchObject({ ratelimit: '"default";r=0;t=5', 'x-left': '0' });
    expect(await statuses(running, 1, '/plain', ALICE)).toEqual([429]);
    expect(running.seen.map(({ degraded }) => degraded ?? false)).toEqual([
      ...[false, true, true, true],
      ...[false, false],
    ]);
  });

  it('does not give a local limit anew by coming and going', async () => {
    const running = await open('throws');
    expect(await statuses(running, 3, '/local', ALICE)).toEqual([200, 200, 429]);
    running.store.failure = undefined;
    expect(await statuses(running, 1, '/local', ALICE)).toEqual([200]);
    running.store.failure = 'throws';
    expect(await statuses(running, 1, '/local', ALICE)).toEqual([429]);
  });

  it('is one failure while it fails now and then', async () => {
    const running = await open();
    for (let i = 0; i < 40; i++) {
      running.store.failure = i % 2 === 0 ? 'rejects' : undefined;
      await statuses(running, 1, '/plain', { 'x-user': `user-${i}` });
      running.clock.advance(400);
    }
    expect(told(running).failed).toHaveLength(1);
    expect(told(running).recovered).toEqual([]);
  });

  it('counts requests that fail together one by one', async () => {
    const running = await open('rejects');
    const all = await Promise.all([1, 2, 3, 4].map(() => get(running, '/local')));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
  });

  it('throws exceptions that carry the decision', async () => {
    const caught: unknown[] = [];
    @Catch(RateLimitUnavailableException, RateLimitExceededException)
    class Filter implements ExceptionFilter {
      catch(exception: unknown, host: ArgumentsHost) {
        caught.push(exception);
        const response = host.switchToHttp().getResponse();
        (response.code?.(418) ?? response.status(418)).send('');
      }
    }
    const store = new UnsteadyStore();
    store.failure = 'rejects';
    const { http } = await start(adapter, {
      controllers: [Shop],
      limits: byHeader(RULES, { store }),
      setUp: (app) => app.useGlobalFilters(new Filter()),
    });
    expect((await http.get('/strict').set(ALICE)).status).toBe(418);
    const [exception] = caught as [RateLimitUnavailableException];
    expect(exception).toBeInstanceOf(RateLimitUnavailableException);
    expect(exception.getStatus()).toBe(503);
    expect(exception).toMatchObject({ policy: 'Shop.strict', retryAfterMillis: 1000 });
    expect(exception.decision).toMatchObject({ allowed: false, reason: 'store', degraded: true });
  });

  it('may decide without itself: then it says for how long', async () => {
    class Breaking extends UnsteadyStore {
      protected override answer(entries: readonly StoreEntry[], now: number) {
        return super.answer(entries, now).map((outcome) => {
          const decision = { ...outcome.decision, degraded: true } as const;
          if (!outcome.entry.counters.some(({ plan }) => plan.rule.onStoreError === 'deny')) {
            return { ...outcome, decision };
          }
          const refusal = { allowed: false, reason: 'store', retryAfterMillis: 1001 } as const;
          return { ...outcome, decision: { ...decision, ...refusal } };
        });
      }
    }
    const running = await open(undefined, new Breaking());
    const allowed = await get(running, '/plain');
    expect(allowed.status).toBe(200);
    expect(limitsTold(allowed)).toEqual([]);
    const refused = await get(running, '/strict');
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ statusCode: 503, retryAfterMillis: 1001 });
    expect(refused.headers['retry-after']).toBe('2');
    expect(limitsTold(refused)).toEqual([]);
    expect(told(running).failed).toEqual([]);
  });
});

describe('the service, with a store that fails', () => {
  const open = async (failure: Failure) => {
    const store = new UnsteadyStore();
    const running = await start('express', { limits: { rules: RULES, store } });
    store.failure = failure;
    return { ...running, store };
  };
  const LOCAL = { policy: 'fixed-window,2,10,onStoreError=local' } as const;
  const DENY = { policy: 'fixed-window,2,10,onStoreError=deny' } as const;

  it.each(FAILURES)('decides when it %s', async (failure) => {
    const { service } = await open(failure);
    expect(await service.check('alice', '/x')).toMatchObject({ allowed: true, degraded: true });
    expect(await service.check('alice', '/x', DENY)).toMatchObject({
      allowed: false,
      reason: 'store',
      retryAfterMillis: 1000,
      degraded: true,
    });
  });

  it.each(FAILURES)('takes nothing to peek when it %s', async (failure) => {
    const { service } = await open(failure);
    for (let i = 0; i < 3; i++) {
      expect((await service.peek('alice', '/x', LOCAL)).remaining).toBe(2);
    }
    expect((await service.check('alice', '/x', LOCAL)).remaining).toBe(1);
    expect(await service.peek('alice', '/x', LOCAL)).toMatchObject({
      remaining: 1,
      degraded: true,
    });
  });

  it('decides at once where the store fails at once', async () => {
    const { service } = await open('throws');
    expect(service.checkSync('alice', '/x')).toMatchObject({ allowed: true, degraded: true });
  });

  it('tells the one who resets, as nothing was reset', async () => {
    const { service } = await open('rejects');
    await expect(service.reset('alice', '/x')).rejects.toThrow('the cable is out');
  });
});

describe('what a store tells', () => {
  const open = async () => {
    const store = new UnsteadyStore();
    const running = await start('express', { limits: { rules: RULES, store } });
    const lines = (level: 'log' | 'warn') =>
      running.logs.ofLimiter(level).filter((line) => !line.includes('in the book'));
    return { ...running, store, lines };
  };

  it('is one line when it fails, with the reason, and one when it is back', async () => {
    const { store, lines } = await open();
    store.tell({ type: 'failed', error: new Error('connect ECONNREFUSED') });
    expect(lines('warn')).toEqual([expect.stringMatching(/unsteady store.*connect ECONNREFUSED/)]);
    store.tell({ type: 'recovered' });
    expect(lines('log')).toEqual(['The unsteady store decides again']);
    expect(lines('warn')).toHaveLength(1);
  });

  it('is one line a warning, in its own words', async () => {
    const { store, lines } = await open();
    store.tell({ type: 'warning', code: 'EVICTION', message: 'Set maxmemory-policy noeviction' });
    expect(lines('warn')).toEqual(['Set maxmemory-policy noeviction']);
  });

  it('is no line when the breaker changes', async () => {
    const { store, lines } = await open();
    for (const state of ['open', 'half-open', 'closed'] as const) {
      store.tell({ type: 'breaker', state });
    }
    expect([...lines('log'), ...lines('warn')]).toEqual([]);
  });

  it('is listened to from the start to the end', async () => {
    const { app, store } = await open();
    expect(store.listeners.size).toBe(1);
    await app.close();
    expect(store.listeners.size).toBe(0);
  });
});
