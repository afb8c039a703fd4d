import fc from 'fast-check';
import { Faults } from '../../src/core/fault.js';
import { isPromise } from '../../src/core/maybe-promise.js';
import type { MaybePromise } from '../../src/core/store.js';
import { readTierAnswer, type Tier } from '../../src/core/tier-rules.js';
import { type ResolveTier, Tiers, type TiersOptions } from '../../src/core/tiers.js';
import { FakeClock } from '../../src/testing/index.js';
import { holdsInTime } from '../laws/support.js';

/** A clock that knows how many sleep on it. */
class CountingClock extends FakeClock {
  sleeping = 0;

  override async sleep(millis: number, signal?: AbortSignal): Promise<void> {
    this.sleeping++;
    try {
      await super.sleep(millis, signal);
    } finally {
      this.sleeping--;
    }
  }
}

function read(answer: unknown): Tier | undefined {
  const faults = new Faults();
  const tier = readTierAnswer(answer, faults);
  faults.throwIfAny();
  return tier;
}

function tiersOver(resolve: ResolveTier, options: TiersOptions = {}) {
  const clock = new CountingClock(1_000_000);
  /** What was told, in order. */
  const told: string[] = [];
  const tell = {
    failed: (userId: string, error: unknown) => told.push(`${userId}: ${(error as Error).message}`),
    recovered: () => told.push('recovered'),
  };
  return { clock, told, tiers: new Tiers(resolve, clock, options, tell, read) };
}

interface Question {
  readonly userId: string;
  readonly ctx: unknown;
  answer(value: unknown): void;
  fail(error: unknown): void;
}

/** Tiers whose look-ups are answered by hand. */
function byHand(options?: TiersOptions) {
  const asked: Question[] = [];
  const resolve: ResolveTier = (userId, ctx) =>
    new Promise((answer, fail) => {
      asked.push({ userId, ctx, answer, fail });
    });
  return { asked, ...tiersOver(resolve, options) };
}

/** Tiers whose look-ups answer, or throw, at once what stands for the user. */
function atOnce(answers: Record<string, unknown>, options?: TiersOptions) {
  const asked: string[] = [];
  const resolve: ResolveTier = (userId) => {
    asked.push(userId);
    const answer = answers[userId];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, ...tiersOver(resolve, options) };
}

/** Lets everything run that waits for nothing but its turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** What is answered without waiting; `…` where it waits. */
const now = (answer: MaybePromise<Tier | undefined>) => (isPromise(answer) ? '…' : answer);

describe('a tier', () => {
  it('is there at once when it is answered at once, and is asked once while it holds', () => {
    const { tiers, clock, asked } = atOnce({ u: 'pro' });
    expect(now(tiers.tierOf('u'))).toBe('pro');
    clock.advance(29_999);
    expect(now(tiers.tierOf('u'))).toBe('pro');
    expect(asked).toEqual(['u']);
    clock.advance(1);
    expect(now(tiers.tierOf('u'))).toBe('pro');
    expect(asked).toEqual(['u', 'u']);
    expect(clock.sleeping).toBe(0);
  });

  it('holds from when its answer came', async () => {
    const { tiers, clock, asked } = byHand({ cacheMillis: 500, timeoutMillis: 400 });
    const first = tiers.tierOf('u', 'the context');
    expect(asked[0]).toMatchObject({ userId: 'u', ctx: 'the context' });
    clock.advance(399);
    asked[0]?.answer('pro');
    expect(await first).toBe('pro');
    clock.advance(499);
    expect(now(tiers.tierOf('u'))).toBe('pro');
    clock.advance(1);
    expect(now(tiers.tierOf('u'))).toBe('…');
    expect(asked).toHaveLength(2);
  });

  it('is looked up once for a thousand calls', async () => {
    const { tiers, clock, asked } = byHand();
    const calls = Array.from({ length: 1000 }, () => tiers.tierOf('u'));
    const other = tiers.tierOf('other');
    expect(asked.map(({ userId }) => userId)).toEqual(['u', 'other']);
    asked[0]?.answer('pro');
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['pro']));
    asked[1]?.answer('free');
    expect(await other).toBe('free');
    await settle();
    expect(clock.sleeping).toBe(0);
  });

  it('may be none, which is an answer as well', () => {
    const { tiers, asked, told } = atOnce({ a: undefined, b: null });
    for (const user of ['a', 'a', 'b', 'b']) expect(now(tiers.tierOf(user))).toBeUndefined();
    expect(asked).toEqual(['a', 'b']);
    expect(tiers.known('a')).toEqual({ tier: undefined, ageMillis: 0 });
    expect(told).toEqual([]);
  });

  it('may be rules', () => {
    const { tiers } = atOnce({ a: 'fixed-window,5,10', b: { limit: 5, window: 10 } });
    expect(now(tiers.tierOf('a'))).toBe(read('fixed-window,5,10'));
    expect(now(tiers.tierOf('b'))).toBe(read('token-bucket,5,10'));
  });

  it('is answered by promises of any library', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise that is none of the language's
    const thenable = (run: (tell: (value: unknown) => void) => void) => ({ then: run });
    const { tiers, told } = atOnce({
      a: thenable((tell) => tell('pro')),
      b: thenable((tell) => {
        tell('pro');
        tell('free');
      }),
      c: thenable(() => {
        throw new Error('broken');
      }),
    });
    expect(await tiers.tierOf('a')).toBe('pro');
    expect(await tiers.tierOf('b')).toBe('pro');
    expect(await tiers.tierOf('c')).toBeUndefined();
    expect(told).toEqual(['c: broken']);
  });

  it('is none where it cannot even be seen whether the answer is a promise', () => {
    const answer = Object.defineProperty({}, 'then', {
      get: () => {
        throw new Error('broken');
      },
    });
    const { tiers, told } = atOnce({ a: answer });
    expect(now(tiers.tierOf('a'))).toBeUndefined();
    expect(told).toEqual(['a: broken']);
  });

  it('is asked by each call that does not find one under way, when nothing is to be kept', async () => {
    const { tiers, asked } = byHand({ cacheMillis: 0 });
    const calls = [tiers.tierOf('u'), tiers.tierOf('u')];
    expect(asked).toHaveLength(1);
    asked[0]?.answer('pro');
    expect(await Promise.all(calls)).toEqual(['pro', 'pro']);
    tiers.tierOf('u');
    expect(asked).toHaveLength(2);
    expect(tiers.known('u')).toEqual({ tier: 'pro', ageMillis: 0 });
  });

  it('is not asked by whom the question itself asks for it', () => {
    const inner: unknown[] = [];
    const { tiers } = tiersOver((userId) => {
      inner.push(tiers.tierOf(userId));
      return 'pro';
    });
    expect(tiers.tierOf('u')).toBe('pro');
    expect(inner).toEqual([undefined]);
  });

  it('is waited for no longer than the time-out where its own look-up asks for it later', async () => {
    const { tiers, clock } = tiersOver(async (userId) => {
      await settle();
      await tiers.tierOf(userId);
      return 'pro';
    });
    const first = tiers.tierOf('u');
    await settle();
    clock.advance(1000);
    expect(await first).toBeUndefined();
    await settle();
    expect(now(tiers.tierOf('u'))).toBe('pro');
  });

  it.each([
    ['empty', ''],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['half a character', '\ud800'],
    ['very long', 'x'.repeat(10_000)],
  ])('is known for a user whose id is %s', (_what, user) => {
    const asked: string[] = [];
    const { tiers } = tiersOver((userId) => {
      asked.push(userId);
      return 'pro';
    });
    expect(tiers.known(user)).toBeUndefined();
    expect(tiers.tierOf(user)).toBe('pro');
    expect(tiers.tierOf(user)).toBe('pro');
    expect(asked).toEqual([user]);
  });

  it('does not hold longer when the clock is set back', () => {
    const { tiers, clock, asked } = atOnce({ u: 'pro' });
    tiers.tierOf('u');
    clock.set(0);
    expect(tiers.known('u')).toEqual({ tier: 'pro', ageMillis: 0 });
    clock.advance(29_999);
    tiers.tierOf('u');
    expect(asked).toHaveLength(1);
    clock.advance(1);
    tiers.tierOf('u');
    expect(asked).toHaveLength(2);
  });

  it('is told with its age to whom it may concern, however old, and asks nobody', () => {
    const { tiers, clock, asked } = atOnce({ u: 'pro' });
    expect(tiers.known('u')).toBeUndefined();
    tiers.tierOf('u');
    clock.advance(45_000);
    expect(tiers.known('u')).toEqual({ tier: 'pro', ageMillis: 45_000 });
    tiers.invalidate('u');
    expect(tiers.known('u')).toEqual({ tier: 'pro', ageMillis: 45_000 });
    expect(asked).toHaveLength(1);
  });
});

describe('a tier that cannot be looked up', () => {
  const down = new Error('down');

  it.each([
    [
      'throws',
      () => {
        throw down;
      },
      'down',
    ],
    ['rejects', () => Promise.reject(down), 'down'],
    ['answers what is no tier', () => 7, 'a tier is its name'],
    ['answers a faulty rule', () => 'fixed-window,0,10', 'limit must be'],
    ['promises a faulty rule', async () => 'fixed-window,0,10', 'limit must be'],
  ])('is none, or the last one: the look-up %s', async (_how, failing, message) => {
    let resolve: () => unknown = failing;
    const { tiers, clock, told } = tiersOver(() => resolve());
    expect(await tiers.tierOf('u')).toBeUndefined();
    expect(tiers.known('u')).toBeUndefined();
    expect(told).toEqual([expect.stringContaining(message)]);

    resolve = () => 'pro';
    clock.advance(1000);
    expect(await tiers.tierOf('u')).toBe('pro');
    expect(told.slice(1)).toEqual(['recovered']);

    resolve = failing;
    clock.advance(500_000);
    expect(await tiers.tierOf('u')).toBe('pro');
    expect(now(tiers.tierOf('u'))).toBe('pro');
    expect(tiers.known('u')).toEqual({ tier: 'pro', ageMillis: 500_000 });
    expect(told.slice(2)).toEqual([expect.stringContaining(message)]);
    await settle();
    expect(clock.sleeping).toBe(0);
  });

  it('is asked for again after a second', () => {
    const { tiers, clock, asked } = atOnce({ u: down, other: 'pro' }, { cacheMillis: 0 });
    tiers.tierOf('u');
    clock.advance(999);
    expect(now(tiers.tierOf('u'))).toBeUndefined();
    expect(now(tiers.tierOf('other'))).toBe('pro');
    expect(asked).toEqual(['u', 'other']);
    clock.advance(1);
    tiers.tierOf('u');
    expect(asked).toEqual(['u', 'other', 'u']);
  });

  it('is told once until it recovers, with the first error', () => {
    const answers: Record<string, unknown> = { a: new Error('first'), b: new Error('second') };
    const { tiers, clock, told } = atOnce(answers);
    for (let i = 0; i < 5; i++) {
      tiers.tierOf('a');
      tiers.tierOf('b');
      clock.advance(1000);
    }
    expect(told).toEqual(['a: first']);
    answers['b'] = 'pro';
    tiers.tierOf('b');
    expect(told).toEqual(['a: first', 'recovered']);
    tiers.tierOf('a');
    expect(told).toEqual(['a: first', 'recovered', 'a: first']);
  });

  it('is not told again with every other user who has one', () => {
    const answers: Record<string, unknown> = { broken: down };
    const { tiers, clock, told } = atOnce(answers);
    tiers.tierOf('broken');
    for (let i = 0; i < 100; i++) {
      answers[i] = i % 2 === 0 ? 'pro' : down;
      tiers.tierOf(String(i));
      clock.advance(9);
    }
    expect(told).toEqual(['broken: down']);
  });
});

describe('a look-up that hangs', () => {
  it('is waited for as long as the timeout, and by nobody after that', async () => {
    const { tiers, clock, asked, told } = byHand();
    const calls = [tiers.tierOf('u')];
    clock.advance(600);
    calls.push(tiers.tierOf('u'));
    clock.advance(399);
    await settle();
    expect(told).toEqual([]);
    clock.advance(1);
    expect(now(tiers.tierOf('u'))).toBeUndefined();
    expect(await Promise.all(calls)).toEqual([undefined, undefined]);
    expect(told).toEqual(['u: The tier was not answered within 1000 ms']);
    clock.advance(5000);
    expect(now(tiers.tierOf('u'))).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(clock.sleeping).toBe(0);
  });

  it('is remembered and a recovery when it is answered at last', async () => {
    const { tiers, clock, asked, told } = byHand();
    const first = tiers.tierOf('u');
    clock.advance(1000);
    expect(await first).toBeUndefined();
    clock.advance(1);
    asked[0]?.answer('pro');
    await settle();
    expect(told.slice(1)).toEqual(['recovered']);
    clock.advance(29_999);
    expect(now(tiers.tierOf('u'))).toBe('pro');
    expect(asked).toHaveLength(1);
  });

  it('leaves the last known answer in its place', async () => {
    const { tiers, clock, asked } = byHand();
    tiers.tierOf('u');
    asked[0]?.answer('pro');
    await settle();
    clock.advance(30_000);
    const second = tiers.tierOf('u');
    clock.advance(1000);
    expect(await second).toBe('pro');
    expect(now(tiers.tierOf('u'))).toBe('pro');
  });

  it('may fail at last, and then is asked again after a second', async () => {
    const { tiers, clock, asked, told } = byHand();
    tiers.tierOf('u');
    clock.advance(5000);
    await settle();
    asked[0]?.fail(new Error('too late'));
    await settle();
    expect(told).toEqual(['u: The tier was not answered within 1000 ms']);
    clock.advance(999);
    expect(now(tiers.tierOf('u'))).toBeUndefined();
    expect(asked).toHaveLength(1);
    clock.advance(1);
    expect(now(tiers.tierOf('u'))).toBe('…');
    expect(asked).toHaveLength(2);
  });

  it.each([
    [30_000, 1000, 30_000],
    [500, 5000, 6000],
    [0, 1000, 2000],
  ])(
    'is given up: kept %i ms, waited for %i ms, asked again after %i ms',
    async (cacheMillis, timeoutMillis, givenUp) => {
      const { tiers, clock, asked } = byHand({ cacheMillis, timeoutMillis });
      tiers.tierOf('u');
      clock.advance(timeoutMillis);
      await settle();
      clock.advance(givenUp - timeoutMillis - 1);
      expect(now(tiers.tierOf('u'))).toBeUndefined();
      expect(asked).toHaveLength(1);
      clock.advance(1);
      const second = tiers.tierOf('u');
      expect(asked).toHaveLength(2);
      asked[0]?.answer('too late');
      await settle();
      expect(tiers.known('u')).toBeUndefined();
      asked[1]?.answer('pro');
      expect(await second).toBe('pro');
    },
  );

  it.each([
    [0, 1000],
    [500, 1000],
    [1000, 1000],
    [0, 50],
    [30_000, 1000],
  ])(
    'is begun at most once a second beside the waiting: kept %i ms, waited for %i ms',
    async (cacheMillis, timeoutMillis) => {
      const { tiers, clock, asked } = byHand({ cacheMillis, timeoutMillis });
      for (let i = 0; i < 1000; i++) {
        tiers.tierOf('u');
        clock.advance(25);
        await settle();
      }
      const times = Math.ceil(25_000 / Math.max(cacheMillis, timeoutMillis + 1000));
      expect(asked).toHaveLength(times);
    },
  );

  it('is not waited for where the clock cannot sleep', async () => {
    const { tiers, clock, told } = byHand();
    clock.sleep = () => Promise.reject(new Error('no sleep'));
    expect(await tiers.tierOf('u')).toBeUndefined();
    expect(told).toEqual(['u: The tier was not answered within 1000 ms']);
  });
});

describe('a tier that is not to be kept any longer', () => {
  it('is asked for by the next call', () => {
    const answers: Record<string, unknown> = { u: 'pro', other: 'pro' };
    const { tiers, asked } = atOnce(answers);
    for (const user of ['u', 'other']) tiers.tierOf(user);
    answers['u'] = 'free';
    tiers.invalidate('u');
    tiers.invalidate('never seen');
    expect(now(tiers.tierOf('u'))).toBe('free');
    expect(now(tiers.tierOf('other'))).toBe('pro');
    expect(asked).toEqual(['u', 'other', 'u']);
  });

  it('is not taken from an answer that was on its way', async () => {
    const { tiers, asked } = byHand();
    const before = tiers.tierOf('u');
    tiers.invalidate('u');
    const after = tiers.tierOf('u');
    expect(asked).toHaveLength(2);
    asked[0]?.answer('old');
    expect(await before).toBe('old');
    expect(now(tiers.tierOf('u'))).toBe('…');
    asked[1]?.answer('new');
    expect(await after).toBe('new');
    expect(now(tiers.tierOf('u'))).toBe('new');
    expect(asked).toHaveLength(2);
  });

  it('is not taken from it either when that comes last, or fails', async () => {
    for (const ending of ['answer', 'fail'] as const) {
      const { tiers, asked, told } = byHand();
      const before = tiers.tierOf('u');
      tiers.invalidate('u');
      tiers.tierOf('u');
      asked[1]?.answer('new');
      await settle();
      asked[0]?.[ending](new Error('old'));
      expect(await before).toBe('new');
      expect(now(tiers.tierOf('u'))).toBe('new');
      expect(told).toEqual([]);
    }
  });

  it('is still looked up once when the answer that was on its way fails', async () => {
    const { tiers, asked } = byHand();
    const before = tiers.tierOf('u');
    tiers.invalidate('u');
    tiers.tierOf('u');
    asked[0]?.fail(new Error('old'));
    expect(await before).toBeUndefined();
    const after = tiers.tierOf('u');
    asked[1]?.answer('new');
    expect(await after).toBe('new');
    expect(asked).toHaveLength(2);
  });

  it('is not kept when that happens in the midst of asking', () => {
    let asked = 0;
    const { tiers } = tiersOver((userId) => {
      tiers.invalidate(userId);
      return `tier ${++asked}`;
    });
    expect(tiers.tierOf('u')).toBe('tier 1');
    expect(tiers.tierOf('u')).toBe('tier 2');
  });

  it('serves on while there is no other', () => {
    const answers: Record<string, unknown> = { u: 'pro' };
    const { tiers, clock, asked } = atOnce(answers);
    tiers.tierOf('u');
    answers['u'] = new Error('down');
    tiers.invalidate('u');
    expect(now(tiers.tierOf('u'))).toBe('pro');
    tiers.invalidate('u');
    expect(now(tiers.tierOf('u'))).toBe('pro');
    expect(asked).toHaveLength(2);
    clock.advance(1000);
    answers['u'] = 'free';
    expect(now(tiers.tierOf('u'))).toBe('free');
  });
});

describe('tiers of many users', () => {
  it('are bounded: the least recently renewed is forgotten first', () => {
    const answers = { a: 'pro', b: 'pro', c: 'pro' };
    const { tiers, asked, clock } = atOnce(answers, { maxEntries: 2, cacheMillis: 10 });
    const known = () => ['a', 'b', 'c'].filter((user) => tiers.known(user));
    tiers.tierOf('a');
    clock.advance(5);
    tiers.tierOf('b');
    clock.advance(5);
    tiers.tierOf('a');
    expect(known()).toEqual(['a', 'b']);
    tiers.tierOf('c');
    expect(known()).toEqual(['a', 'c']);
    clock.advance(10);
    tiers.tierOf('c');
    expect(known()).toEqual(['a', 'c']);
    expect(asked).toEqual(['a', 'b', 'a', 'c', 'c']);
  });

  it('do not crowd out a look-up under way', async () => {
    const slow: ((value: unknown) => void)[] = [];
    const { tiers } = tiersOver(
      (userId) => (userId === 'slow' ? new Promise((answer) => slow.push(answer)) : 'pro'),
      { maxEntries: 2 },
    );
    const first = tiers.tierOf('slow');
    for (let i = 0; i < 10; i++) tiers.tierOf(String(i));
    const second = tiers.tierOf('slow');
    expect(slow).toHaveLength(1);
    slow[0]?.('free');
    expect(await Promise.all([first, second])).toEqual(['free', 'free']);
    expect(now(tiers.tierOf('slow'))).toBe('free');
  });

  it('are answered though more are under way than can be remembered', async () => {
    const { tiers, asked, clock } = byHand({ maxEntries: 2 });
    const calls = ['a', 'b', 'c'].map((user) => tiers.tierOf(user));
    asked[0]?.answer('tier of a');
    expect(await calls[0]).toBe('tier of a');
    expect(tiers.known('a')).toBeUndefined();
    asked[1]?.answer('tier of b');
    asked[2]?.answer('tier of c');
    expect(await Promise.all(calls)).toEqual(['tier of a', 'tier of b', 'tier of c']);
    expect(tiers.known('b')).toEqual({ tier: 'tier of b', ageMillis: 0 });
    expect(tiers.known('c')).toEqual({ tier: 'tier of c', ageMillis: 0 });
    await settle();
    expect(clock.sleeping).toBe(0);
  });

  it('do not crowd out each other by being asked for again', async () => {
    const { tiers, asked, clock } = byHand({ maxEntries: 2 });
    for (const user of ['a', 'b']) tiers.tierOf(user);
    clock.advance(30_000);
    await settle();
    clock.advance(1000);
    tiers.tierOf('b');
    expect(asked.map(({ userId }) => userId)).toEqual(['a', 'b', 'b']);
    asked[0]?.answer('pro');
    await settle();
    expect(now(tiers.tierOf('a'))).toBe('pro');
  });
});

describe('tiers that are closed', () => {
  it('let go whoever waits, and ask nobody', async () => {
    const { tiers, asked, clock, told } = byHand();
    tiers.tierOf('u');
    asked[0]?.answer('pro');
    await settle();
    clock.advance(30_000);
    const calls = [tiers.tierOf('u'), tiers.tierOf('other')];
    expect(clock.sleeping).toBe(2);
    tiers.close();
    expect(await Promise.all(calls)).toEqual(['pro', undefined]);
    await settle();
    expect(clock.sleeping).toBe(0);
    asked[1]?.answer('free');
    asked[2]?.fail(new Error('closed'));
    await settle();
    expect(now(tiers.tierOf('u'))).toBe('pro');
    expect(now(tiers.tierOf('new'))).toBeUndefined();
    expect(asked).toHaveLength(3);
    expect(told).toEqual([]);
    tiers.close();
  });

  it('let go also whose look-up is given up', async () => {
    const { tiers } = byHand();
    const before = tiers.tierOf('u');
    tiers.invalidate('u');
    const after = tiers.tierOf('u');
    tiers.close();
    expect(await Promise.all([before, after])).toEqual([undefined, undefined]);
  });
});

describe('whatever happens in whatever order', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('call' as const), user: fc.nat(2) }),
    fc.record({ kind: fc.constantFrom('answer' as const, 'fail' as const), pick: fc.nat(20) }),
    fc.record({ kind: fc.constant('pass' as const), millis: fc.constantFrom(1, 40, 99, 100, 250) }),
    fc.record({ kind: fc.constant('settle' as const) }),
  );
  const options = fc.record({
    cacheMillis: fc.constantFrom(0, 100, 300, 2000),
    timeoutMillis: fc.constantFrom(100, 250),
  });
  const script = fc.array(step, { maxLength: 60, size: 'max' });

  interface Flight extends Question {
    readonly startMillis: number;
    over: boolean;
  }

  /** Plays a script; checks at each question that the user has none under way, and `more`. */
  async function play(
    { cacheMillis, timeoutMillis }: { cacheMillis: number; timeoutMillis: number },
    steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
    more: (flight: Flight, earlier: Flight | undefined) => void,
  ) {
    const flights: Flight[] = [];
    const patience = Math.max(cacheMillis, timeoutMillis);
    const { tiers, clock } = tiersOver(
      (userId, ctx) =>
        new Promise((answer, fail) => {
          const startMillis = clock.nowMillis();
          const flight = { userId, ctx, answer, fail, startMillis, over: false };
          const earlier = flights.findLast((one) => one.userId === userId);
          if (earlier && !earlier.over) {
            expect(startMillis - earlier.startMillis).toBeGreaterThanOrEqual(patience);
          }
          more(flight, earlier);
          flights.push(flight);
        }),
      { cacheMillis, timeoutMillis },
    );
    const calls: { since: number; done?: number }[] = [];
    for (const one of steps) {
      if (one.kind === 'settle') await settle();
      else if (one.kind === 'pass') clock.advance(one.millis);
      else if (one.kind === 'call') {
        const call: { since: number; done?: number } = { since: clock.nowMillis() };
        calls.push(call);
        void Promise.resolve(tiers.tierOf(`user ${one.user}`)).then(() => {
          call.done = clock.nowMillis();
        });
      } else {
        const open = flights.filter(({ over }) => !over);
        const flight = open[one.pick % open.length];
        if (!flight) continue;
        if (one.kind === 'answer') flight.answer('pro');
        else flight.fail(new Error('down'));
        flight.over = true;
        await settle();
      }
      const overdue = calls.filter(({ since }) => since + timeoutMillis <= clock.nowMillis());
      if (overdue.length > 0) await settle();
      expect(overdue.every(({ done }) => done !== undefined)).toBe(true);
    }
    tiers.close();
    await settle();
    expect(calls.every(({ done }) => done !== undefined)).toBe(true);
    expect(clock.sleeping).toBe(0);
  }

  it('looks up a user once at a time, and keeps nobody waiting beyond the timeout', async () => {
    await holdsInTime(
      300,
      fc.asyncProperty(options, script, (given, steps) => play(given, steps, () => {})),
    );
  });

  it('begins no two look-ups of a user within the time that answers hold', async () => {
    const succeeding = script.map((steps) => steps.filter(({ kind }) => kind !== 'fail'));
    await holdsInTime(
      300,
      fc.asyncProperty(options, succeeding, (given, steps) =>
        play(given, steps, (flight, earlier) => {
          if (!earlier) return;
          const apart = flight.startMillis - earlier.startMillis;
          expect(apart).toBeGreaterThanOrEqual(given.cacheMillis);
        }),
      ),
    );
  });
});
