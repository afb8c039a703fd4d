import { getEventListeners } from 'node:events';
import { Clock, SystemClock } from '../../src/core/clock.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { MemoryStore } from '../../src/stores/memory/memory.store.js';
import { open, STORE_KINDS, turn } from './waiting.js';

describe.each(STORE_KINDS)('acquire on a store that answers %s', (kind) => {
  it('lets in at once what fits', async () => {
    const { acquire, told, spent } = open('token-bucket,5,10', kind);
    await acquire('a', { cost: 2 });
    await acquire('b', { cost: 3, timeoutMillis: 0 });
    expect(told).toEqual(['0 a in', '0 b in']);
    expect(await spent()).toBe(5);
  });

  it.each([
    ['token-bucket,1,1', ['0 a in', '1000 b in', '2000 c in', '3000 d in', '4000 e in']],
    ['token-bucket,2,2', ['0 a in', '0 b in', '1000 c in', '2000 d in', '3000 e in']],
    ['fixed-window,2,2', ['0 a in', '0 b in', '2000 c in', '2000 d in', '4000 e in']],
    ['sliding-window,2,2', ['0 a in', '0 b in', '2000 c in', '2000 d in', '4000 e in']],
    ['sliding-window-counter,2,2', ['0 a in', '0 b in', '3000 c in', '4000 d in', '6000 e in']],
    [
      'token-bucket,2,2 & fixed-window,3,5',
      ['0 a in', '0 b in', '1000 c in', '5000 d in', '5000 e in'],
    ],
  ])('lets in as soon as %s allows it, first come first served', async (rule, trace) => {
    const { acquire, told, clock } = open(rule, kind);
    for (const name of ['a', 'b', 'c', 'd', 'e']) void acquire(name);
    await turn();
    await clock.pass(6000);
    expect(told).toEqual(trace);
  });

  it('serves in the order of arrival, whatever each costs', async () => {
    const { acquire, told, clock } = open('token-bucket,5,5', kind);
    for (const [name, cost] of Object.entries({ a: 3, b: 5, c: 1, d: 2, e: 1 })) {
      void acquire(name, { cost });
    }
    await turn();
    expect(told).toEqual(['0 a in']);
    await clock.pass(7000);
    expect(told).toEqual(['0 a in', '3000 b in', '4000 c in', '6000 d in', '7000 e in']);
  });

  it('lets nothing pass those who wait, but a cost of 0', async () => {
    const { acquire, told, clock } = open('token-bucket,5,5', kind);
    await acquire('a', { cost: 4 });
    void acquire('b', { cost: 3 });
    void acquire('c', { cost: 1 });
    void acquire('d', { cost: 0 });
    await turn();
    expect(told).toEqual(['0 a in', '0 d in']);
    await clock.pass(3000);
    expect(told.slice(2)).toEqual(['2000 b in', '3000 c in']);
  });

  it('refuses at once what cannot come in time, and lets in at the last moment', async () => {
    const { acquire, told, clock, spent } = open('token-bucket,1,1', kind);
    await acquire('a');
    void acquire('b', { timeoutMillis: 999 });
    void acquire('c', { timeoutMillis: 1000 });
    await turn();
    expect(told).toEqual(['0 a in', '0 b quota 0 1000']);
    await clock.pass(1000);
    expect(told[2]).toBe('1000 c in');
    expect(await spent()).toBe(1);
  });

  it.each([
    ['token-bucket,2,2', 4000, ['4000 f in'], ['g', 'h']],
    ['fixed-window,2,2', 4000, ['4000 f in'], ['g', 'h']],
    ['sliding-window,2,2', 4000, ['4000 f in'], ['g', 'h']],
  ])('knows of those before it, by %s', async (rule, timeoutMillis, last, refused) => {
    const { acquire, told, clock } = open(rule, kind);
    for (const name of 'abcdefgh') void acquire(name, { timeoutMillis });
    await turn();
    const out = refused.map((name) => expect.stringMatching(`^0 ${name} quota 0 \\d+$`));
    expect(told).toEqual(['0 a in', '0 b in', ...out]);
    await clock.pass(timeoutMillis);
    expect(told).toHaveLength(8);
    expect(told.slice(-1)).toEqual(last);
    expect(clock.asleep).toBe(0);
  });

  it('does not count those before it that are refused', async () => {
    const { acquire, told, clock } = open('token-bucket,5,5', kind);
    await acquire('a', { cost: 5 });
    void acquire('b', { timeoutMillis: 2000 });
    void acquire('c', { cost: 3, timeoutMillis: 2000 });
    void acquire('d', { timeoutMillis: 2000 });
    await turn();
    expect(told).toEqual(['0 a in', '0 c quota 0 3000']);
    await clock.pass(2000);
    expect(told.slice(2)).toEqual(['1000 b in', '2000 d in']);
  });

  it('refuses by a counter whose counts fade only what surely cannot come', async () => {
    const { acquire, told, clock } = open('sliding-window-counter,10,10', kind);
    await acquire('a', { cost: 10 });
    clock.set(20_000);
    for (const [name, cost] of Object.entries({ b: 4, c: 5, d: 3 })) {
      void acquire(name, { cost, timeoutMillis: 14_000 });
    }
    await turn();
    await clock.pass(14_000);
    const served = told.filter((one) => one.endsWith('in'));
    expect(served).toEqual(['0 a in', '14000 b in', '19000 c in', '22223 d in']);
  });

  it('foresees no turn by counts that fade before it comes', async () => {
    const { acquire, told, clock } = open('sliding-window-counter,10,10', kind);
    await acquire('a', { cost: 10 });
    clock.advance(15_000);
    await acquire('b', { cost: 5 });
    void acquire('c', { cost: 4 });
    // All 9 at once would fit at 13,000 only; c counts for little more than half by 9445.
    void acquire('d', { cost: 5, timeoutMillis: 9445 });
    await turn();
    await clock.pass(9445);
    expect(told).toEqual(['0 a in', '15000 b in', '19000 c in', '24445 d in']);
  });

  it('refuses at once and for ever what costs more than there can be', async () => {
    const { acquire, told, spent } = open('token-bucket,5,5', kind);
    void acquire('a', { cost: 6 });
    await turn();
    void acquire('b', { cost: 5 });
    void acquire('c', { cost: 5 });
    void acquire('d', { cost: 6, timeoutMillis: Number.POSITIVE_INFINITY });
    await turn();
    expect(told).toEqual(['0 a never 5 Infinity', '0 b in', '0 d never 0 Infinity']);
    expect(await spent()).toBe(5);
  });

  it('refuses with true numbers when the time is up', async () => {
    const { acquire, told, clock, spent, limiter } = open('token-bucket,5,5', kind);
    await acquire('a', { cost: 5 });
    void acquire('b', { cost: 3, timeoutMillis: 3500 });
    void acquire('c', { cost: 1, timeoutMillis: 4100 });
    await turn();
    await clock.pass(2999);
    // Takes what b would have had.
    await limiter.tryAcquire('alice', 2);
    await clock.pass(600);
    expect(told).toEqual(['0 a in', '3000 b quota 1 2000', '3000 c in']);
    expect(await spent()).toBe(5);
  });

  it('refuses whose time is up behind others, and tells when their turn is', async () => {
    const { acquire, told, clock } = open('fixed-window,5,10', kind);
    await acquire('a', { cost: 3 });
    void acquire('b', { cost: 3 });
    void acquire('c', { cost: 3, timeoutMillis: 15_000 });
    void acquire('d', { cost: 2, timeoutMillis: 10_000 });
    void acquire('e', { cost: 2, timeoutMillis: 500 });
    await turn();
    expect(told).toEqual(['0 a in', '0 d quota 2 10000', '0 e quota 2 10000']);
    await clock.pass(9999);
    expect(told).toHaveLength(3);
    clock.advance(1);
    await turn();
    expect(told.slice(3)).toEqual(['10000 b in', '10000 c quota 2 10000']);
  });

  it('serves who stands behind one that gave up', async () => {
    const { acquire, told, clock, spent } = open('token-bucket,5,5', kind);
    const patience = new AbortController();
    await acquire('a', { cost: 4 });
    void acquire('b', { cost: 5, signal: patience.signal });
    void acquire('c', { cost: 1 });
    void acquire('d', { cost: 1 });
    await turn();
    patience.abort(new Error('enough'));
    await turn();
    expect(told).toEqual(['0 a in', '0 b ✗ enough', '0 c in']);
    await clock.pass(1000);
    expect(told[3]).toBe('1000 d in');
    expect(await spent()).toBe(5);
    expect(getEventListeners(patience.signal, 'abort')).toHaveLength(0);
  });

  it('rejects with the reason who gives up in the midst, and who comes so', async () => {
    const { acquire, told, clock, spent } = open('token-bucket,1,1', kind);
    const patience = new AbortController();
    const signal = AbortSignal.abort(new Error('before'));
    void acquire('a', { signal });
    await acquire('b');
    void acquire('c');
    void acquire('d', { signal: patience.signal });
    void acquire('e');
    await turn();
    patience.abort(new Error('enough'));
    await turn();
    expect(told).toEqual(['0 a ✗ before', '0 b in', '0 d ✗ enough']);
    await clock.pass(2000);
    expect(told.slice(3)).toEqual(['1000 c in', '2000 e in']);
    expect(await spent()).toBe(1);
  });

  it('wakes nobody before it is worth asking', async () => {
    const { acquire, clock, later, told } = open('fixed-window,2,10', kind);
    for (const name of ['a', 'b', 'c', 'd']) void acquire(name, { timeoutMillis: Infinity });
    await turn();
    await clock.pass(10_000);
    expect(told).toHaveLength(4);
    expect(clock.slept.length).toBeLessThan(4);
    const asked = ['take 1', 'take 1', 'take 1', 'take 1', 'take 1'];
    if (kind === 'later') expect(later.asked).toEqual(asked);
  });

  it('follows a wait that others make longer', async () => {
    const { acquire, told, clock, limiter } = open('token-bucket,1,1', kind);
    await acquire('a');
    void acquire('b', { timeoutMillis: 2000 });
    void acquire('c', { timeoutMillis: 1500 });
    await turn();
    clock.advance(1000);
    void limiter.tryAcquire('alice');
    await turn();
    await clock.pass(1000);
    expect(told.filter((one) => one.endsWith('in'))).toEqual(['0 a in', '2000 b in']);
  });

  it('asks at once after a reset of this limiter', async () => {
    const { acquire, told, clock, limiter } = open('token-bucket,2,1h', kind);
    await acquire('a', { cost: 2 });
    for (const name of 'bcd') void acquire(name, { timeoutMillis: 1e10 });
    await turn();
    clock.advance(7);
    await limiter.reset('bob');
    await turn();
    expect(told).toHaveLength(1);
    await limiter.reset('alice');
    await turn();
    expect(told.slice(1)).toEqual(['7 b in', '7 c in']);
  });

  it('waits while a block lasts', async () => {
    const { told, acquire, clock, inner } = open('token-bucket,5,5', kind);
    const short = jest.spyOn(inner, 'decideKey');
    const long = jest.spyOn(inner, 'decide');
    await acquire('a');
    const plan = short.mock.calls[0]?.[0] ?? long.mock.calls[0]![0][0]!.counters[0]!.plan;
    inner.block([{ plan, values: ['alice'] }], 13_000, 10_000);
    void acquire('b', { timeoutMillis: 2999 });
    void acquire('c', { timeoutMillis: 3000 });
    await turn();
    expect(told).toEqual(['0 a in', '0 b blocked 4 3000']);
    await clock.pass(3000);
    expect(told[2]).toBe('3000 c in');
  });

  it('tells the numbers and lets go whoever waits when it is closed', async () => {
    const { acquire, told, clock, factory, spent } = open('token-bucket,5,5', kind);
    await acquire('a', { cost: 4 });
    void acquire('b', { cost: 3 });
    void acquire('c', { cost: 1 });
    await turn();
    clock.advance(500);
    await factory.close();
    await turn();
    expect(told).toEqual(['0 a in', '500 b quota 1 1500', '500 c quota 1 1500']);
    expect(clock.asleep).toBe(0);
    await acquire('d', { cost: 1 });
    await acquire('e', { cost: 1 });
    expect(told.slice(3)).toEqual(['500 d in', '500 e quota 0 500']);
    expect(await spent()).toBe(5);
  });

  it('lets at most maxWaiters wait, and refuses others at once', async () => {
    const { acquire, told, clock, limiter, spent } = open('token-bucket,2,2', kind, 2);
    await acquire('a');
    void acquire('b', { cost: 2 });
    void acquire('c');
    await turn();
    void acquire('d');
    await turn();
    expect(told).toEqual(['0 a in', '0 d quota 1 1000']);
    expect((await limiter.acquire('bob', { cost: 2 })).allowed).toBe(true);
    expect((await limiter.acquire('bob')).retryAfterMillis).toBe(1000);
    await clock.pass(1000);
    void acquire('e');
    await clock.pass(2000);
    expect(told.slice(2)).toEqual(['1000 b in', '2000 c in', '3000 e in']);
    expect(await spent()).toBe(2);
  });

  it('serves ten thousand, and no more wait', async () => {
    const { acquire, told, clock } = open('token-bucket,1,1ms', kind);
    for (let i = 0; i <= 10_001; i++) void acquire(String(i));
    await turn();
    expect(told.filter((one) => one.endsWith('in'))).toEqual(['0 0 in']);
    await clock.pass(10_001);
    const admitted = told.filter((one) => one.endsWith('in'));
    const bound = kind === 'later' ? 10_000 : 10_001;
    expect(admitted).toEqual(Array.from({ length: bound }, (_, i) => `${i} ${i} in`));
    expect(clock.asleep).toBe(0);
  }, 30_000);

  it.each([
    ['a negative cost', { cost: -1 }],
    ['a fraction', { cost: 0.5 }],
    ['no number as cost', { cost: Number.NaN }],
    ['text as cost', { cost: '1' as never }],
    ['a negative timeout', { timeoutMillis: -1 }],
    ['no number as timeout', { timeoutMillis: Number.NaN }],
    ['text as timeout', { timeoutMillis: '1000' as never }],
    ['null as timeout', { timeoutMillis: null as never }],
  ])('rejects with RangeError for %s, and takes nothing', async (_, options) => {
    const { limiter, spent } = open('token-bucket,5,5', kind);
    await expect(limiter.acquire('alice', options)).rejects.toThrow(RangeError);
    expect(await spent()).toBe(0);
  });

  it.each([
    [2 ** 31, '24d'],
    [2 ** 40, '60d'],
    [Number.POSITIVE_INFINITY, '60d'],
  ])('waits up to %d ms, with no timer that is too long', async (timeoutMillis, window) => {
    const { acquire, told, clock } = open(`fixed-window,1,${window}`, kind);
    await acquire('a');
    void acquire('b', { timeoutMillis });
    await turn();
    for (let i = 0; i < 60; i++) {
      clock.advance(86_400_000);
      await turn();
    }
    expect(told[1]).toMatch(/b in/);
    expect(Math.max(...clock.slept)).toBeLessThan(2 ** 31);
  });
});

describe('while a store decides', () => {
  /** Holds its answers until `open` is called. */
  function gated(rule: string) {
    const all = open(rule, 'later');
    let release: () => void = () => undefined;
    const close = () => {
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      all.later.before = () => gate;
    };
    const letGo = async () => {
      all.later.before = () => undefined;
      release();
      await turn();
    };
    return { ...all, close, letGo };
  }

  it('one that gives up is told the answer: let in, or the reason', async () => {
    const { acquire, told, close, letGo, spent } = gated('token-bucket,1,1');
    for (const name of ['a', 'b']) {
      const patience = new AbortController();
      close();
      void acquire(name, { signal: patience.signal });
      await turn();
      patience.abort(new Error('enough'));
      await turn();
      expect(told).not.toContainEqual(expect.stringContaining(name));
      await letGo();
      expect(getEventListeners(patience.signal, 'abort')).toHaveLength(0);
    }
    expect(told).toEqual(['0 a in', '0 b ✗ enough']);
    expect(await spent()).toBe(1);
  });

  it('one whose time ends is told the answer', async () => {
    const { acquire, told, clock, close, letGo, spent } = gated('token-bucket,1,1');
    for (const name of ['a', 'b']) {
      close();
      void acquire(name, { timeoutMillis: 5 });
      await turn();
      clock.advance(100);
      await letGo();
    }
    expect(told).toEqual(['100 a in', '200 b quota 0 900']);
    expect(await spent()).toBe(1);
  });

  it('those behind are not counted twice that take meanwhile', async () => {
    const { acquire, told, clock, close, letGo } = gated('token-bucket,2,2');
    await acquire('a', { cost: 2 });
    void acquire('b');
    await turn();
    await clock.pass(500);
    close();
    void acquire('c', { timeoutMillis: 1500 });
    await turn();
    clock.advance(500);
    await turn();
    await letGo();
    expect(told).toEqual(['0 a in', '1000 b in']);
    await clock.pass(1000);
    expect(told[2]).toBe('2000 c in');
  });

  it('a reset has it asked once more', async () => {
    const { acquire, told, close, letGo, limiter, inner } = gated('token-bucket,1,1h');
    await acquire('a');
    const decide = inner.decide.bind(inner);
    void acquire('b', { timeoutMillis: 1e9 });
    await turn();
    close();
    // The answer is older than the reset.
    inner.decide = (entries, now) => {
      const answer = decide(entries, now);
      inner.decide = decide;
      return answer;
    };
    await limiter.reset('alice');
    await letGo();
    expect(told).toEqual(['0 a in', '0 b in']);
  });

  it('the shutdown waits for the answer', async () => {
    const { acquire, told, factory, close, letGo } = gated('token-bucket,1,1');
    close();
    void acquire('a');
    void acquire('b');
    await turn();
    let closed = false;
    void factory.close().then(() => {
      closed = true;
    });
    await turn();
    expect(closed).toBe(false);
    await letGo();
    expect(closed).toBe(true);
    expect(told.sort()).toEqual(['0 a in', '0 b quota 0 1000']);
  });
});

describe('what fails', () => {
  it('rejects with what the store rejects with, and the next is asked', async () => {
    const { acquire, told, later, clock, spent } = open('token-bucket,1,1', 'later');
    let failures = 2;
    later.before = ({ mode }) => {
      if (mode === 'take' && failures-- > 0) throw new Error('away');
    };
    for (const name of ['a', 'b', 'c', 'd']) void acquire(name);
    await turn();
    expect(told).toEqual(['0 a ✗ away', '0 b ✗ away', '0 c in']);
    await clock.pass(1000);
    expect(told[3]).toBe('1000 d in');
    expect(await spent()).toBe(1);
  });

  it('rejects who is looked at, and who is refused, when the store does', async () => {
    const { acquire, told, later, clock } = open('token-bucket,1,1', 'later');
    await acquire('a');
    void acquire('b', { timeoutMillis: 1500 });
    await turn();
    later.before = ({ mode }) => {
      if (mode === 'peek') throw new Error('away');
    };
    void acquire('c');
    await turn();
    expect(told).toEqual(['0 a in', '0 c ✗ away']);
    clock.advance(2000);
    await turn();
    expect(told[2]).toBe('2000 b ✗ away');
    expect(clock.asleep).toBe(0);
  });

  it('rejects all who wait when the clock cannot sleep', async () => {
    class Sleepless extends Clock {
      override nowMillis() {
        return 1000;
      }

      override async sleep() {
        throw new Error('sleepless');
      }
    }
    const limiter = new LimiterFactory(new Sleepless(), new MemoryStore()).createKeyed(
      'token-bucket,1,1',
    );
    limiter.tryAcquire('alice');
    const waiting = [limiter.acquire('alice'), limiter.acquire('alice')];
    for (const one of waiting) await expect(one).rejects.toThrow('sleepless');
  });

  it('refuses when the store tells a wait that is no number', async () => {
    const { acquire, told, inner } = open('token-bucket,1,1', 'later');
    await acquire('a');
    const decide = inner.decide.bind(inner);
    inner.decide = (...args) =>
      decide(...args).map((outcome) => {
        return { ...outcome, decision: { ...outcome.decision, retryAfterMillis: Number.NaN } };
      });
    void acquire('b', { timeoutMillis: Number.POSITIVE_INFINITY });
    await turn();
    expect(told[1]).toBe('0 b quota 0 NaN');
  });
});

describe('on the clock of the machine', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('has one timer for a line, and none when all were served or gave up', async () => {
    const factory = new LimiterFactory(new SystemClock(), new MemoryStore());
    const limiter = factory.createKeyed('token-bucket,1,1');
    const patience = new AbortController();
    const { signal } = patience;
    const served = [1, 2, 3, 4].map(() => limiter.acquire('alice'));
    const gone = [1, 2].map(() => limiter.acquire('bob', { cost: 1, signal }));
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(2);
    patience.abort('enough');
    await expect(gone[1]).rejects.toBe('enough');
    await jest.advanceTimersByTimeAsync(3000);
    const decisions = await Promise.all(served);
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true]);
    expect((await gone[0])?.allowed).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('limiters of one factory', () => {
  it('share a line where they share counters', async () => {
    const { factory, inner, clock } = open('token-bucket,1,1', 'at once');
    const rule = 'token-bucket,1,1';
    const one = factory.createKeyed(rule, { store: inner });
    const same = factory.createKeyed(rule, { store: inner });
    const other = factory.createKeyed(rule, { store: new MemoryStore() });
    const own = factory.createKeyed(rule);
    const told: string[] = [];
    for (const [name, limiter] of Object.entries({ one, same, other, own })) {
      for (const i of [1, 2]) {
        void limiter.acquire('alice').then(() => told.push(`${name} ${i}`));
      }
    }
    await turn();
    expect(told).toEqual(['one 1', 'other 1', 'own 1']);
    await clock.pass(3000);
    const shared = told.filter((name) => /one|same/.test(name));
    expect(shared).toEqual(['one 1', 'one 2', 'same 1', 'same 2']);
    expect(told).toHaveLength(8);
    expect(clock.asleep).toBe(0);
  });
});
