import { type EvictionEvent, LimiterFactory, MemoryStore } from '../../src/core/index.js';
import { FakeClock } from '../../src/testing/index.js';

const MEGABYTE = 2 ** 20;

function keyed(maxKeys: number, rule: string, clock = new FakeClock(1_700_000_000_000)) {
  const store = new MemoryStore({ maxKeys });
  return { store, clock, limiter: new LimiterFactory(clock, store).createKeyed(rule) };
}

describe('a flood of five million unique keys at a capacity of 100,000', () => {
  it('leaves who is at the limit refused, and the store as large as before', () => {
    const { limiter, store, clock } = keyed(100_000, 'token-bucket,2,1h');
    const abusers = Array.from({ length: 1000 }, (_, i) => `abuser-${i}`);
    for (const key of [...abusers, ...abusers]) expect(limiter.tryAcquire(key).allowed).toBe(true);
    for (let i = 0; i < 200_000; i++) limiter.tryAcquire(`first-${i}`);
    const { bytes } = store;
    const before = process.memoryUsage();
    for (let i = 0; i < 5_000_000; i++) {
      limiter.tryAcquire(`flood-${i}`);
      if (i % 1000 === 0) clock.advance(1);
    }
    const after = process.memoryUsage();
    expect(store.bytes).toBe(bytes);
    expect(bytes).toBeLessThanOrEqual(100_000 * 24);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(MEGABYTE);
    expect(after.rss - before.rss).toBeLessThan(100 * MEGABYTE);
    expect(abusers.filter((key) => limiter.peek(key).allowed)).toEqual([]);
    expect(store.evictedAtLimit).toBe(0);
    expect(store.evicted).toBeGreaterThan(4_000_000);
    expect(store.slotsInUse(clock.nowMillis())).toBe(100_000);
  }, 120_000);
});

describe('a flood of keys that are all at their limit', () => {
  it('is counted apart and announced', () => {
    const { limiter, store } = keyed(1000, 'fixed-window,1,1h');
    const events: EvictionEvent[] = [];
    store.onEviction((event) => events.push(event));
    for (let i = 0; i < 3000; i++) limiter.tryAcquire(`key-${i}`);
    expect(store.evictedAtLimit).toBeGreaterThanOrEqual(2000);
    expect(store.evictedAtLimit).toBe(store.evicted);
    expect(events).toHaveLength(store.evicted);
    expect(events.at(-1)).toEqual({
      atLimit: true,
      evicted: store.evicted,
      evictedAtLimit: store.evictedAtLimit,
    });
  });

  it('is told to nobody who stopped listening, nor after the store is closed', () => {
    const { limiter, store } = keyed(1, 'fixed-window,1,1h');
    const events: EvictionEvent[] = [];
    const stop = store.onEviction((event) => events.push(event));
    limiter.tryAcquire('a');
    limiter.tryAcquire('b');
    expect(events).toHaveLength(1);
    stop();
    limiter.tryAcquire('c');
    expect(events).toHaveLength(1);
  });

  it.each([
    'token-bucket,2,1h',
    'fixed-window,2,1h',
    'sliding-window,2,1h',
    'sliding-window-counter,2,1h',
  ])('never takes a key at its limit before one that is not: %s', (rule) => {
    const { limiter, store } = keyed(16, rule);
    for (let i = 0; i < 8; i++) {
      limiter.tryAcquire(`limit-${i}`);
      limiter.tryAcquire(`limit-${i}`);
    }
    const before = store.evictedAtLimit;
    for (let i = 0; i < 500; i++) limiter.tryAcquire(`below-${i}`);
    expect(store.evictedAtLimit).toBe(before);
    const refused = Array.from({ length: 8 }, (_, i) => !limiter.peek(`limit-${i}`).allowed);
    expect(refused).toEqual(Array(8).fill(true));
  });
});

describe('many keys', () => {
  it('may be seventeen million, where a Map would throw', () => {
    const { limiter, store } = keyed(17_000_000, 'fixed-window,2,1h');
    for (let i = 0; i < 17_000_000; i++) limiter.tryAcquire(`k${i}`);
    expect(store.slotsInUse(1_700_000_000_000)).toBeGreaterThan(16_000_000);
    expect(store.bytes).toBeLessThanOrEqual(17_000_000 * 24);
    store.close();
    expect(store.bytes).toBe(0);
  }, 180_000);

  it('need nothing done when they expire: their slots are free, and no timer waits', () => {
    const { limiter, store, clock } = keyed(1_000_000, 'token-bucket,5,10');
    const timers = () =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    for (let i = 0; i < 1_000_000; i++) limiter.tryAcquire(`k${i}`);
    const evicted = store.evicted;
    expect(timers()).toBe(before);
    expect(store.slotsInUse(clock.nowMillis())).toBeGreaterThan(950_000);
    clock.advance(2000);
    expect(store.slotsInUse(clock.nowMillis())).toBe(0);
    for (let i = 0; i < 500_000; i++) limiter.tryAcquire(`again-${i}`);
    expect(store.evicted).toBe(evicted);
  }, 60_000);
});

describe('keys of any kind', () => {
  const odd = ['', ' ', '__proto__', 'constructor', '\ud800', '\udc00\ud800', 'é', 'e\u0301', '\0'];
  const long = ['x'.repeat(10_240), 'x'.repeat(10_241), 'x'.repeat(65_535), 'x'.repeat(65_536)];

  it('are told apart', () => {
    const { limiter } = keyed(1000, 'fixed-window,1,1h');
    for (const key of [...odd, ...long]) expect(limiter.tryAcquire(key).allowed).toBe(true);
    for (const key of [...odd, ...long]) expect(limiter.tryAcquire(key).allowed).toBe(false);
  });

  it('crowd no set although they differ in one place only', () => {
    const { limiter, store } = keyed(80_000, 'fixed-window,1,1h');
    for (let i = 0; i < 40_000; i++) limiter.tryAcquire(`${'a'.repeat(i % 200)}${i}`);
    expect(store.evicted).toBe(0);
  });
});

describe('maxKeys', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 26 + 1, '1000', null])(
    'is refused when it is %p',
    (maxKeys) => {
      const make = () => new MemoryStore({ maxKeys: maxKeys as number });
      expect(make).toThrow(RangeError);
      expect(make).toThrow('maxKeys is a whole number from 1 to 67108864');
    },
  );

  it.each([1, 2, 7, 8, 9, 100, 2 ** 26])('of %d bounds the store', (maxKeys) => {
    const { limiter, store, clock } = keyed(maxKeys, 'token-bucket,5,10');
    for (let i = 0; i < 500; i++) expect(limiter.tryAcquire(`k${i}`).remaining).toBe(4);
    expect(store.bytes).toBeLessThanOrEqual(maxKeys * 24);
    if (maxKeys <= 100) expect(store.slotsInUse(clock.nowMillis())).toBeLessThanOrEqual(maxKeys);
  });

  it('counts a log of n times as ⌈n/3⌉ counters', () => {
    const { limiter, store } = keyed(3000, 'sliding-window,30,1h');
    for (let i = 0; i < 5000; i++) limiter.tryAcquire(`k${i}`);
    expect(store.slotsInUse(1_700_000_000_000)).toBeLessThanOrEqual(300);
  });
});
