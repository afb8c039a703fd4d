import type { Counter } from '../../src/core/counter-plan.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { Policy } from '../../src/core/policy.js';
import { Rule } from '../../src/core/rule.js';
import { RateLimitStore, type Receipt, type StoreEntry } from '../../src/core/store.js';
import { MemoryStore } from '../../src/stores/memory/memory.store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { faultsOf } from './faults.js';

/** A store that answers later. */
class LaterStore extends RateLimitStore {
  readonly name = 'later';

  constructor(private readonly store: MemoryStore) {
    super();
  }

  async decide(entries: readonly StoreEntry[], nowMillis: number) {
    return this.store.decide(entries, nowMillis);
  }

  async settle(receipt: Receipt, delta: number, nowMillis: number) {
    return this.store.settle(receipt, delta, nowMillis);
  }

  async reset(counters: readonly Counter[]) {
    this.store.reset(counters);
  }

  async block(counters: readonly Counter[], untilMillis: number, nowMillis: number) {
    this.store.block(counters, untilMillis, nowMillis);
  }
}

const open = () => {
  const clock = new FakeClock(5000);
  const store = new MemoryStore();
  return { clock, store, factory: new LimiterFactory(clock, store) };
};

describe('a limiter factory', () => {
  it('takes whatever stands for a policy', () => {
    const { factory } = open();
    const text = 'fixed-window,5,10';
    for (const limiter of [
      factory.create(text),
      factory.create({ algorithm: 'fixed-window', limit: 5, window: 10 }),
      factory.create(Rule.parse(text)),
      factory.create(Policy.parse(text)),
      factory.create([text]),
    ]) {
      expect(limiter.tryAcquire(2)).toMatchObject({ allowed: true, limit: 5, remaining: 3 });
    }
  });

  it.each([
    ['sliding-window,1000,10', []],
    ['sliding-window,1001,10', [['RULE_LOG_TOO_LARGE', 'use sliding-window-counter', undefined]]],
    ['sliding-window-counter,1001,10', []],
    ['token-bucket,5,10,by=ip+global', []],
    ['token-bucket,5,10,by=ip+usr', [['RULE_DIMENSION', 'unknown dimension "usr"', 'user']]],
    ['token-bucket,5,10,by=region', [['RULE_DIMENSION', 'use user, api, ip, global', undefined]]],
    ['token-bucket,0,10', [['RULE_LIMIT', 'limit must be a positive whole number', undefined]]],
    [
      'token-bucket,5,10,wait=1s',
      [['RULE_NOT_AVAILABLE', 'acquire with timeoutMillis', undefined]],
    ],
    [
      'sliding-window,1001,10,by=usr & sliding-window,5000,10',
      [
        ['RULE_LOG_TOO_LARGE', 'at most 1000', undefined],
        ['RULE_DIMENSION', 'unknown dimension', 'user'],
        ['RULE_LOG_TOO_LARGE', 'at most 1000', undefined],
      ],
    ],
  ] as const)('refuses what it cannot count: %s', (rule: string, told) => {
    const { factory } = open();
    for (const make of [() => factory.create(rule), () => factory.createKeyed(rule)]) {
      const faults = faultsOf(make);
      expect(faults.map(({ code, place, meant }) => [code, place, meant])).toEqual(
        told.map(([code, , meant]) => [code, 'a limiter', meant]),
      );
      for (const [i, [, problem]] of told.entries()) expect(faults[i]?.problem).toContain(problem);
    }
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5'])(
    'refuses a maxWaiters of %p',
    (maxWaiters) => {
      const options = { maxWaiters: maxWaiters as number };
      expect(() => new LimiterFactory(new FakeClock(), undefined, options)).toThrow(RangeError);
    },
  );

  it('has the clock of the machine unless it is given one', () => {
    const limiter = new LimiterFactory().create('fixed-window,1,365d');
    const { resetAfterMillis } = limiter.tryAcquire();
    const yearMillis = 365 * 86_400_000;
    const left = yearMillis - (Date.now() % yearMillis);
    expect(Math.abs(resetAfterMillis - left)).toBeLessThan(60_000);
  });
});

describe('a limiter for one key', () => {
  it('counts by itself, and is as good as new after a reset', () => {
    const { factory } = open();
    const [one, other] = [factory.create('fixed-window,1,10'), factory.create('fixed-window,1,10')];
    expect(one.peek().allowed).toBe(true);
    expect(one.tryAcquire().allowed).toBe(true);
    expect(one.tryAcquire().allowed).toBe(false);
    expect(other.tryAcquire().allowed).toBe(true);
    one.reset();
    expect(one.peek()).toMatchObject({ allowed: true, remaining: 1, resetAfterMillis: 0 });
  });

  it('goes by the clock of its factory, which may step back', () => {
    const { clock, factory } = open();
    const limiter = factory.create('token-bucket,1,10');
    limiter.tryAcquire();
    clock.set(0);
    expect(limiter.tryAcquire()).toMatchObject({ allowed: false, retryAfterMillis: 10_000 });
    clock.advance(10_000);
    expect(limiter.tryAcquire().allowed).toBe(true);
  });
});

describe('a limiter with keys', () => {
  it('counts each key by itself', () => {
    const limiter = open().factory.createKeyed('fixed-window,1,10');
    for (const key of ['a', 'b', '', '__proto__']) {
      expect(limiter.peek(key).allowed).toBe(true);
      expect(limiter.tryAcquire(key).allowed).toBe(true);
      expect(limiter.tryAcquire(key).allowed).toBe(false);
    }
    void limiter.reset('a');
    expect(limiter.tryAcquire('a').allowed).toBe(true);
    expect(limiter.tryAcquire('b').allowed).toBe(false);
  });

  it('shares its counters with another exactly when it is handed their store', () => {
    const { factory, store } = open();
    const own = [
      factory.createKeyed('fixed-window,1,10'),
      factory.createKeyed('fixed-window,1,10'),
    ];
    expect(own.map((limiter) => limiter.tryAcquire('a').allowed)).toEqual([true, true]);
    const shared = ['fixed-window,1,10', 'fixed-window,1,10', 'fixed-window,1,10,name=b'].map(
      (rule) => factory.createKeyed(rule, { store }),
    );
    expect(shared.map((limiter) => limiter.tryAcquire('a').allowed)).toEqual([true, false, true]);
  });

  it('answers a promise where its store does', async () => {
    const { factory, store } = open();
    const limiter = factory.createKeyed('fixed-window,1,10', { store: new LaterStore(store) });
    expect(await limiter.tryAcquire('a')).toMatchObject({ allowed: true });
    expect(await limiter.tryAcquire('a')).toMatchObject({ allowed: false });
  });

  it.each(['fixed-window,1,10,count=failures', 'fixed-window,1,10,count=successes'] as const)(
    'refuses %s, since nobody tells it how a request ended',
    (rule) => {
      const { factory } = open();
      for (const create of [() => factory.create(rule), () => factory.createKeyed(rule)]) {
        expect(create).toThrow(expect.objectContaining({ code: 'RULE_NOT_AVAILABLE' }));
        expect(create).toThrow(/how a request ended/);
      }
    },
  );

  it('needs a store', () => {
    const factory = new LimiterFactory(new FakeClock());
    expect(() => factory.createKeyed('fixed-window,1,10')).toThrow(TypeError);
    const store = new MemoryStore();
    expect(factory.createKeyed('fixed-window,1,10', { store }).tryAcquire('a').allowed).toBe(true);
  });

  it.each([-1, 0.5, Number.NaN])('refuses a cost of %d and takes nothing', (cost) => {
    const limiter = open().factory.createKeyed('fixed-window,1,10');
    expect(() => limiter.tryAcquire('a', cost)).toThrow(RangeError);
    expect(() => limiter.peek('a', cost)).toThrow(RangeError);
    expect(limiter.peek('a').remaining).toBe(1);
  });
});
