import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { Clock, SystemClock } from '../../src/core/clock.js';
import { SteadyClock } from '../../src/core/steady-clock.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { holds } from '../laws/support.js';

const LONGEST = 2 ** 31 - 1;

/** How a promise stands, once all that is due has run. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  const pending = Symbol('pending');
  const turns = (async () => {
    for (let i = 0; i < 20; i++) await undefined;
    return pending;
  })();
  const settled = promise.then(
    () => 'done',
    (reason) => ({ rejected: reason }),
  );
  const first = await Promise.race([settled, turns]);
  return first === pending ? 'pending' : first;
}

describe('the system clock', () => {
  const clock = new SystemClock();

  it('tells whole epoch milliseconds', () => {
    const before = Date.now();
    const now = clock.nowMillis();
    expect(Number.isInteger(now)).toBe(true);
    expect(Math.abs(now - before)).toBeLessThan(60_000);
  });

  it('goes on when the date of the machine is set back', () => {
    const before = clock.nowMillis();
    const date = jest.spyOn(Date, 'now').mockReturnValue(0);
    expect(clock.nowMillis()).toBeGreaterThanOrEqual(before);
    date.mockRestore();
  });

  it('cuts off the fraction', () => {
    const real = performance.timeOrigin;
    const now = jest.spyOn(performance, 'now').mockReturnValue(1000.75 - (real % 1));
    expect(clock.nowMillis()).toBe(Math.floor(real) + 1000);
    now.mockRestore();
  });
});

describe('the sleep of a clock', () => {
  const clock = new SystemClock();

  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('ends when the time has passed, and not a millisecond before', async () => {
    const sleep = clock.sleep(500);
    await jest.advanceTimersByTimeAsync(499);
    expect(await stateOf(sleep)).toBe('pending');
    await jest.advanceTimersByTimeAsync(1);
    expect(await stateOf(sleep)).toBe('done');
  });

  it.each([0, -1, Number.NEGATIVE_INFINITY])('ends at once for %d', async (millis) => {
    expect(await stateOf(clock.sleep(millis))).toBe('done');
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    [LONGEST, [LONGEST]],
    [LONGEST + 1, [LONGEST, 1]],
    [3 * LONGEST + 500, [LONGEST, LONGEST, LONGEST, 500]],
  ])('of %d ms is made of timers that Node can hold', async (millis, timers) => {
    const set = jest.spyOn(globalThis, 'setTimeout');
    const sleep = clock.sleep(millis);
    await jest.advanceTimersByTimeAsync(millis - 1);
    expect(await stateOf(sleep)).toBe('pending');
    await jest.advanceTimersByTimeAsync(1);
    expect(await stateOf(sleep)).toBe('done');
    expect(set.mock.calls.map(([, delay]) => delay)).toEqual(timers);
  });

  it('rejects with the reason of a signal that is aborted already', async () => {
    const reason = new Error('no');
    expect(await stateOf(clock.sleep(500, AbortSignal.abort(reason)))).toEqual({
      rejected: reason,
    });
    expect(await stateOf(clock.sleep(0, AbortSignal.abort(reason)))).toEqual({ rejected: reason });
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([0, 400, LONGEST + 400])(
    'rejects as soon as it is aborted, after %d ms',
    async (after) => {
      const controller = new AbortController();
      const sleep = clock.sleep(LONGEST + 500, controller.signal);
      await jest.advanceTimersByTimeAsync(after);
      expect(await stateOf(sleep)).toBe('pending');
      controller.abort('enough');
      expect(await stateOf(sleep)).toEqual({ rejected: 'enough' });
      expect(jest.getTimerCount()).toBe(0);
    },
  );

  it('rejects when it is aborted between two timers', async () => {
    const controller = new AbortController();
    const sleep = clock.sleep(LONGEST + 500, controller.signal);
    jest.advanceTimersByTime(LONGEST);
    controller.abort('enough');
    expect(await stateOf(sleep)).toEqual({ rejected: 'enough' });
  });

  it.each([
    [undefined, true],
    [{}, true],
    [{ background: undefined }, true],
    [{ background: false }, true],
    [{ background: true }, false],
  ])('with %p: each of its timers keeps the process alive, %p', async (options, alive) => {
    const set = jest.spyOn(globalThis, 'setTimeout');
    const sleep = new SystemClock().sleep(LONGEST + 500, undefined, options);
    await jest.advanceTimersByTimeAsync(LONGEST + 500);
    expect(await stateOf(sleep)).toBe('done');
    expect(set.mock.results.map(({ value }) => value.hasRef())).toEqual([alive, alive]);
  });

  it('in the background ends, and is aborted, as any other', async () => {
    const controller = new AbortController();
    const background = { background: true };
    const sleep = clock.sleep(500, undefined, background);
    const aborted = clock.sleep(500, controller.signal, background);
    controller.abort('enough');
    expect(await stateOf(aborted)).toEqual({ rejected: 'enough' });
    await jest.advanceTimersByTimeAsync(499);
    expect(await stateOf(sleep)).toBe('pending');
    await jest.advanceTimersByTimeAsync(1);
    expect(await stateOf(sleep)).toBe('done');
  });

  it('leaves nothing behind at the signal', async () => {
    const { signal } = new AbortController();
    const sleep = clock.sleep(LONGEST + 500, signal);
    await jest.advanceTimersByTimeAsync(LONGEST + 499);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    await sleep;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('a process', () => {
  const runner = join(__dirname, '../support/typescript-child.cjs');
  const file = join(__dirname, 'sleeping-process.ts');

  /** What a process said that began such a sleep, and how it ended. */
  async function said(clock: string, millis: number, kind: string): Promise<string> {
    const child = spawn(process.execPath, [runner, file, clock, String(millis), kind], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // Were it kept alive after all, the test fails instead of leaving it behind.
      timeout: 20_000,
    });
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    return `${out.trim()}, exit ${code}`;
  }

  it.each(['system', 'steady'])(
    'does not stay alive for a sleep in the background of the %s clock',
    async (clock) => {
      expect(await said(clock, 3_600_000, 'background')).toBe('asleep, exit 0');
    },
    30_000,
  );

  it.each(['system', 'steady'])(
    'stays alive for a plain sleep of the %s clock',
    async (clock) => {
      expect(await said(clock, 50, 'plain')).toBe('asleep woke, exit 0');
    },
    30_000,
  );
});

describe('the reader of a clock', () => {
  it('tells what the clock tells as long as that goes on', () => {
    const clock = new FakeClock(1000);
    const reader = SteadyClock.over(clock);
    expect(reader.nowMillis()).toBe(1000);
    clock.advance(7);
    expect(reader.nowMillis()).toBe(1007);
    expect(reader.nowMillis()).toBe(1007);
  });

  it('cuts off fractions', () => {
    const clock = new FakeClock(1000.75);
    const reader = SteadyClock.over(clock);
    expect(reader.nowMillis()).toBe(1000);
    clock.set(1000.25);
    expect(reader.nowMillis()).toBe(1000);
    clock.set(1001);
    expect(reader.nowMillis()).toBe(1001);
  });

  it('stands still where the clock steps back, and goes on from there', () => {
    const clock = new FakeClock(10_000);
    const reader = SteadyClock.over(clock);
    const read = (millis: number) => {
      clock.set(millis);
      return reader.nowMillis();
    };
    expect(reader.nowMillis()).toBe(10_000);
    expect([4000, 4001, 4500, 0, 3, 20_003].map(read)).toEqual([
      10_000, 10_001, 10_500, 10_500, 10_503, 30_503,
    ]);
  });

  it('never goes back, and goes on by what the clock goes on by', () => {
    const moment = fc.oneof(fc.nat(50), fc.nat(2 ** 31 - 1), fc.nat(1e13));
    holds(
      500,
      fc.property(fc.array(moment, { minLength: 2, maxLength: 30 }), (moments) => {
        const clock = new FakeClock(moments[0]);
        const reader = SteadyClock.over(clock);
        let [last, told] = [moments[0] ?? 0, reader.nowMillis()];
        for (const millis of moments) {
          clock.set(millis);
          const next = reader.nowMillis();
          expect(next - told).toBe(Math.max(0, millis - last));
          [last, told] = [millis, next];
        }
      }),
    );
  });

  it.each([
    Number.NaN,
    -1,
    -0.5,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    8.64e15 + 1,
    undefined,
    'now',
  ])('refuses what is no moment, and goes on unharmed: %p', (millis) => {
    const clock = new FakeClock(5000);
    const reader = SteadyClock.over(clock);
    reader.nowMillis();
    clock.set(millis as number);
    expect(() => reader.nowMillis()).toThrow(RangeError);
    expect(() => reader.nowMillis()).toThrow('A clock tells epoch milliseconds from 0 on, got');
    clock.set(5010);
    expect(reader.nowMillis()).toBe(5010);
  });

  it('tells the first and the last moment there is', () => {
    const clock = new FakeClock(0);
    const reader = SteadyClock.over(clock);
    expect(reader.nowMillis()).toBe(0);
    clock.set(8.64e15);
    expect(reader.nowMillis()).toBe(8.64e15);
  });

  it('is one for all who read the same clock, and its own for another', () => {
    const [one, other] = [new FakeClock(10), new FakeClock(20)];
    const reader = SteadyClock.over(one);
    expect(SteadyClock.over(one)).toBe(reader);
    expect(SteadyClock.over(reader)).toBe(reader);
    expect(SteadyClock.over(other)).not.toBe(reader);
    reader.nowMillis();
    one.set(0);
    expect(SteadyClock.over(one).nowMillis()).toBe(10);
    expect(SteadyClock.over(other).nowMillis()).toBe(20);
  });

  it('sleeps as its clock sleeps', async () => {
    const clock = new FakeClock(0);
    const controller = new AbortController();
    const reader = SteadyClock.over(clock);
    const [sleep, aborted] = [reader.sleep(10), reader.sleep(10, controller.signal)];
    controller.abort('enough');
    expect(await stateOf(sleep)).toBe('pending');
    expect(await stateOf(aborted)).toEqual({ rejected: 'enough' });
    clock.advance(10);
    expect(await stateOf(sleep)).toBe('done');
  });

  it('hands on how it is to be slept', async () => {
    const clock = new FakeClock(0);
    const sleep = jest.spyOn(clock, 'sleep');
    const { signal } = new AbortController();
    void SteadyClock.over(clock).sleep(10, signal, { background: true });
    expect(sleep.mock.calls).toEqual([[10, signal, { background: true }]]);
  });

  it('is a clock', () => {
    expect(SteadyClock.over(new FakeClock())).toBeInstanceOf(Clock);
  });
});
