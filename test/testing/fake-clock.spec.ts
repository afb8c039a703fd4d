import { getEventListeners } from 'node:events';
import { Clock } from '../../src/core/clock.js';
import { FakeClock } from '../../src/testing/index.js';

/** Lets all run that is due. */
async function turn(): Promise<void> {
  for (let i = 0; i < 10; i++) await undefined;
}

describe('a fake clock', () => {
  it('is a clock that stands still', async () => {
    const clock = new FakeClock(1000);
    expect(clock).toBeInstanceOf(Clock);
    expect(clock.nowMillis()).toBe(1000);
    await turn();
    expect(clock.nowMillis()).toBe(1000);
  });

  it('begins at 0 unless told otherwise', () => {
    expect(new FakeClock().nowMillis()).toBe(0);
  });

  it('moves when it is told to', () => {
    const clock = new FakeClock(1000);
    clock.advance(500);
    expect(clock.nowMillis()).toBe(1500);
    clock.advance(0);
    expect(clock.nowMillis()).toBe(1500);
    clock.set(7);
    expect(clock.nowMillis()).toBe(7);
    clock.advance(1);
    expect(clock.nowMillis()).toBe(8);
  });

  it.each([-1, -0.5, Number.NaN])('does not advance by %d', (millis) => {
    const clock = new FakeClock(1000);
    expect(() => clock.advance(millis)).toThrow(RangeError);
    expect(clock.nowMillis()).toBe(1000);
  });
});

describe('a sleeper of a fake clock', () => {
  /** A clock, sleepers of these lengths, and who woke so far. */
  function sleepers(...lengths: readonly number[]) {
    const clock = new FakeClock(1000);
    const woken: number[] = [];
    for (const millis of lengths) void clock.sleep(millis).then(() => woken.push(millis));
    return { clock, woken };
  }

  it('wakes when its time has come, and not a millisecond before', async () => {
    const { clock, woken } = sleepers(10);
    clock.advance(9);
    await turn();
    expect(woken).toEqual([]);
    clock.advance(1);
    await turn();
    expect(woken).toEqual([10]);
  });

  it('wakes in the order of its moment, equal ones as they lay down', async () => {
    const { clock, woken } = sleepers(30, 10, 40, 20, 50);
    const equal: string[] = [];
    for (const name of ['a', 'b', 'c']) void clock.sleep(20).then(() => equal.push(name));
    clock.advance(40);
    await turn();
    expect(woken).toEqual([10, 20, 30, 40]);
    expect(equal).toEqual(['a', 'b', 'c']);
    clock.set(1050);
    await turn();
    expect(woken).toEqual([10, 20, 30, 40, 50]);
  });

  it('wakes once', async () => {
    const { clock, woken } = sleepers(10);
    clock.advance(10);
    clock.set(1000);
    clock.advance(10);
    await turn();
    expect(woken).toEqual([10]);
  });

  it('sleeps on while the clock steps back', async () => {
    const { clock, woken } = sleepers(10);
    clock.set(0);
    clock.advance(1009);
    await turn();
    expect(woken).toEqual([]);
    clock.advance(1);
    await turn();
    expect(woken).toEqual([10]);
  });

  it('counts from when it lay down', async () => {
    const { clock, woken } = sleepers();
    clock.advance(500);
    void clock.sleep(10).then(() => woken.push(10));
    clock.advance(9);
    await turn();
    expect(woken).toEqual([]);
    clock.advance(1);
    await turn();
    expect(woken).toEqual([10]);
  });

  it.each([0, -1, Number.NaN])('does not sleep for %d ms', async (millis) => {
    const { woken } = sleepers(millis);
    await turn();
    expect(woken).toEqual([millis]);
  });

  it('in the background sleeps like any other', async () => {
    const clock = new FakeClock();
    const woken: string[] = [];
    void clock.sleep(10, undefined, { background: true }).then(() => woken.push('background'));
    void clock.sleep(10).then(() => woken.push('plain'));
    clock.advance(9);
    await turn();
    expect(woken).toEqual([]);
    clock.advance(1);
    await turn();
    expect(woken).toEqual(['background', 'plain']);
  });

  it('may lie down again when it wakes', async () => {
    const clock = new FakeClock();
    const woken: number[] = [];
    void (async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(10);
        woken.push(clock.nowMillis());
      }
    })();
    for (let i = 0; i < 3; i++) {
      clock.advance(10);
      await turn();
    }
    expect(woken).toEqual([10, 20, 30]);
  });
});

describe('an aborted sleeper of a fake clock', () => {
  it('rejects at once with the reason, and does not wake later', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const told: unknown[] = [];
    void clock.sleep(10, controller.signal).then(
      () => told.push('woke'),
      (reason) => told.push(reason),
    );
    await turn();
    expect(told).toEqual([]);
    controller.abort('enough');
    await turn();
    expect(told).toEqual(['enough']);
    clock.advance(10);
    await turn();
    expect(told).toEqual(['enough']);
  });

  it.each([10, 0])('rejects when it was aborted before, for %d ms', async (millis) => {
    const reason = new Error('no');
    await expect(new FakeClock().sleep(millis, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('leaves nothing behind at the signal, however it ends', async () => {
    const clock = new FakeClock();
    const [woken, aborted] = [new AbortController(), new AbortController()];
    const sleep = clock.sleep(10, woken.signal);
    const other = clock.sleep(10, aborted.signal);
    expect(getEventListeners(woken.signal, 'abort')).toHaveLength(1);
    aborted.abort('enough');
    clock.advance(10);
    await sleep;
    await expect(other).rejects.toBe('enough');
    expect(getEventListeners(woken.signal, 'abort')).toHaveLength(0);
    expect(getEventListeners(aborted.signal, 'abort')).toHaveLength(0);
  });
});
