import { Controller, type ExecutionContext, Get } from '@nestjs/common';
import {
  type Counter,
  type DecisionEvent,
  MemoryStore,
  type RateLimitEvent,
  type StoreEntry,
} from 'nestjs-doorman';
import { ADAPTERS, type AppParts, SlowStore, start, statuses } from './support.js';

const HERE = { ip: '127.0.0.1' };
const header = (name: string) => (ctx: ExecutionContext) =>
  ctx.switchToHttp().getRequest().headers[name];
const tenant = header('x-tenant');
const apiKey = header('x-api-key');
const TWO = { default: 'fixed-window,2,10,by=tenant+api' };

@Controller()
class Plain {
  @Get('plain')
  plain() {
    return {};
  }
}

/** Remembers all that counters hold. */
class Watching extends SlowStore {
  readonly values: string[] = [];

  override async decide(entries: readonly StoreEntry[], now: number) {
    const counters = entries.flatMap((entry): readonly Counter[] => entry.counters);
    this.values.push(...counters.flatMap(({ values }) => values));
    return super.decide(entries, now);
  }
}

describe.each(ADAPTERS)('dimensions on %s', (adapter) => {
  const open = (rules: object, dimensions: object, more: object = {}) => {
    const parts: AppParts = { limits: { rules, dimensions, ...more }, controllers: [Plain] };
    return start(adapter, parts);
  };

  it.each([
    ['at once', tenant],
    ['by promise', async (ctx: ExecutionContext) => tenant(ctx)],
    ['as an object', { value: tenant }],
  ])('count by what is answered %s', async (_, value) => {
    const app = await open(TWO, { tenant: value });
    expect(await statuses(app, 3, '/plain', { 'x-tenant': 'a' })).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/plain', { 'x-tenant': 'b' })).toEqual([200, 200, 429]);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('fall back to the address where there is no value, which is no value either', async () => {
    const app = await open(TWO, { tenant });
    expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
    for (const name of ['127.0.0.1', '@127.0.0.1', 'undefined', 'null', '']) {
      expect(await statuses(app, 1, '/plain', { 'x-tenant': name })).toEqual([200]);
    }
    expect(app.logs.warnings()).toEqual([]);
  });

  it('are joined: per address and per key, both must allow', async () => {
    const both = 'token-bucket,3,1,by=ip & token-bucket,4,60,by=api-key';
    const app = await open({ default: both }, { 'api-key': apiKey });
    const [one, two] = [{ 'x-api-key': 'one' }, { 'x-api-key': 'two' }];
    expect(await statuses(app, 4, '/plain', one)).toEqual([200, 200, 200, 429]);
    expect(await statuses(app, 1, '/plain', two)).toEqual([429]);
    app.clock.advance(1000);
    expect(await statuses(app, 2, '/plain', one)).toEqual([200, 429]);
    expect(await statuses(app, 3, '/plain', two)).toEqual([200, 200, 429]);
    app.clock.advance(1000);
    const refused = await app.http.get('/plain').set(one);
    expect([refused.status, refused.body.retryAfterMillis]).toEqual([429, 13_000]);
    expect(await statuses(app, 2, '/plain', two)).toEqual([200, 200]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no tenant');
      },
      'no tenant',
    ],
    ['rejects', async () => Promise.reject(new Error('no tenant')), 'no tenant'],
    ['rejects with nothing', async () => Promise.reject(), 'failed'],
    ['answers an object', () => ({ id: 1 }), 'got object'],
    ['answers a boolean by promise', async () => true, 'got boolean'],
    ['answers NaN', () => Number.NaN, 'got NaN'],
    ['answers a symbol', () => Symbol('tenant'), 'got symbol'],
    ['answers a function', () => () => 'a', 'got function'],
  ])('warn once and count by address where one %s', async (_, value, words) => {
    const app = await open(TWO, { tenant: value });
    expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
    expect((await app.service.peek(undefined, '/plain', { dimensions: HERE })).remaining).toBe(0);
    expect(app.logs.warnings('tenant', words)).toHaveLength(1);
    expect(app.logs.warnings()).toHaveLength(1);
  });

  it('are not asked where no rule counts by them', async () => {
    const asked = jest.fn(() => 'a');
    const app = await open({ default: 'fixed-window,2,10' }, { tenant: asked });
    expect(await statuses(app, 1, '/plain')).toEqual([200]);
    expect(asked).not.toHaveBeenCalled();
  });

  it('keep a secret', async () => {
    const store = new Watching(new MemoryStore());
    const dimensions = { 'api-key': { value: apiKey, secret: true } };
    const rules = { default: 'fixed-window,2,10,by=api-key' };
    const more = { store, secretKey: 'a key of sixteen and more', warnAt: 0.5 };
    const app = await open(rules, dimensions, more);
    const told: (DecisionEvent | RateLimitEvent)[] = [];
    app.service.decisions$.subscribe((event) => told.push(event));
    app.service.events$.subscribe((event) => told.push(event));
    const SECRET = 'sk-live-123';
    expect(await statuses(app, 3, '/plain', { 'x-api-key': SECRET })).toEqual([200, 200, 429]);
    const answer = await app.http.get('/plain').set({ 'x-api-key': SECRET });
    const named = { dimensions: { ...HERE, 'api-key': SECRET } };
    expect((await app.service.peek(undefined, '/plain', named)).remaining).toBe(0);
    const explained = await app.service.explain(undefined, '/plain', named);
    expect(told.length).toBeGreaterThan(4);
    expect(store.values).toHaveLength(6);
    expect(new Set(store.values).size).toBe(1);
    const all = [told, store.values, explained, answer.headers, answer.body, app.logs];
    expect(JSON.stringify(all)).not.toContain(SECRET);
  });

  it('are named by callers of the service', async () => {
    const app = await open(TWO, { tenant });
    const check = async (dimensions: Record<string, string>) =>
      (await app.service.check(undefined, '/plain', { dimensions })).allowed;
    const a = { tenant: 'a' };
    expect([await check(a), await check(a), await check(a)]).toEqual([true, true, false]);
    expect(await statuses(app, 1, '/plain', { 'x-tenant': 'a' })).toEqual([429]);
    expect([await check(HERE), await check(HERE), await check(HERE)]).toEqual([true, true, false]);
    expect(await statuses(app, 1, '/plain')).toEqual([429]);
    expect(await check({ tenant: 'b', ip: '127.0.0.1' })).toBe(true);
  });
});
