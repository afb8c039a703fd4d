import fc from 'fast-check';
import type { Algorithm, RuleNumbers } from './model.js';
import { ModelPolicy, modelOf } from './model.js';

const rule = (
  algorithm: Algorithm,
  limit: number,
  windowMillis: number,
  burst?: number,
): RuleNumbers => ({ algorithm, limit, windowMillis, burst });

/** allowed, remaining, retryAfter, resetAfter, moreAfter: in one line, as one works them out. */
function ask(model: ModelPolicy, at: number, cost = 1): string {
  const a = model.tryAcquire(at, cost);
  const numbers = [a.remaining, a.retryAfterMillis, a.resetAfterMillis, a.moreAfterMillis];
  return `${a.allowed ? 'yes' : 'no'} ${numbers.join(' ')}`;
}

describe('the model of the token bucket', () => {
  it('lets five in at once, then one every 2000 ms, at 5 per 10 s', () => {
    const model = modelOf(rule('token-bucket', 5, 10_000));
    expect(ask(model, 0)).toBe('yes 4 0 2000 2000');
    expect(ask(model, 0)).toBe('yes 3 0 4000 2000');
    expect(ask(model, 0)).toBe('yes 2 0 6000 2000');
    expect(ask(model, 0)).toBe('yes 1 0 8000 2000');
    expect(ask(model, 0)).toBe('yes 0 0 10000 2000');
    expect(ask(model, 0)).toBe('no 0 2000 10000 2000');
    expect(ask(model, 1999)).toBe('no 0 1 8001 1');
    expect(ask(model, 2000)).toBe('yes 0 0 10000 2000');
    expect(ask(model, 5000, 2)).toBe('no 1 1000 7000 1000');
    expect(ask(model, 6000, 2)).toBe('yes 0 0 10000 2000');
  });

  it('rounds a wait up and never lets the rest go, at 3 per 7 ms', () => {
    const model = modelOf(rule('token-bucket', 3, 7));
    expect(ask(model, 0, 3)).toBe('yes 0 0 7 3');
    expect(ask(model, 2)).toBe('no 0 1 5 1');
    expect(ask(model, 3)).toBe('yes 0 0 7 2');
    expect(ask(model, 5)).toBe('yes 0 0 7 2');
    expect(ask(model, 6)).toBe('no 0 1 6 1');
    expect(ask(model, 7)).toBe('yes 0 0 7 3');
  });

  it('holds its burst and fills it at the pace of its limit', () => {
    const model = modelOf(rule('token-bucket', 1, 1000, 3));
    expect(ask(model, 0, 3)).toBe('yes 0 0 3000 1000');
    expect(ask(model, 2500, 3)).toBe('no 2 500 500 500');
    expect(ask(model, 9999, 0)).toBe('yes 3 0 0 0');
    expect(ask(model, 9999, 4)).toBe('no 3 Infinity 0 0');
    expect(model.peek(9999)).toMatchObject({ limit: 3, windowMillis: 3000 });
  });

  it('gives back no more than what time has not given yet', () => {
    const model = modelOf(rule('token-bucket', 5, 10_000));
    model.tryAcquire(0, 5);
    model.giveBack(5, 0, 4000);
    expect(model.peek(4000, 0).remaining).toBe(5);
    model.tryAcquire(4000, 4);
    model.giveBack(1, 4000, 5000);
    expect(model.peek(5000, 0)).toMatchObject({ remaining: 2, resetAfterMillis: 6000 });
    model.giveBack(1, 4000, 6000);
    expect(model.peek(6000, 0)).toMatchObject({ remaining: 2, resetAfterMillis: 5000 });
  });
});

describe('the model of the fixed window', () => {
  it('lets six through around an edge, at 3 per 10 s', () => {
    const model = modelOf(rule('fixed-window', 3, 10_000));
    expect(ask(model, 9000, 2)).toBe('yes 1 0 1000 1000');
    expect(ask(model, 9000)).toBe('yes 0 0 1000 1000');
    expect(ask(model, 9999)).toBe('no 0 1 1 1');
    expect(ask(model, 10_000, 3)).toBe('yes 0 0 10000 10000');
    expect(ask(model, 10_000)).toBe('no 0 10000 10000 10000');
    expect(ask(model, 20_000, 0)).toBe('yes 3 0 0 0');
  });

  it('takes back in the same box only', () => {
    const model = modelOf(rule('fixed-window', 3, 10_000));
    model.tryAcquire(9000, 3);
    model.giveBack(2, 9000, 9500);
    expect(model.peek(9500, 0).remaining).toBe(2);
    model.tryAcquire(10_000, 1);
    model.giveBack(1, 9000, 10_000);
    expect(model.peek(10_000, 0).remaining).toBe(2);
  });
});

describe('the model of the sliding window', () => {
  it('counts an entry until exactly one window later', () => {
    const model = modelOf(rule('sliding-window', 3, 10_000));
    expect(ask(model, 1000)).toBe('yes 2 0 10000 10000');
    expect(ask(model, 4000, 2)).toBe('yes 0 0 10000 7000');
    expect(ask(model, 10_999)).toBe('no 0 1 3001 1');
    expect(ask(model, 11_000)).toBe('yes 0 0 10000 3000');
    expect(ask(model, 11_000, 2)).toBe('no 0 3000 10000 3000');
    expect(ask(model, 11_000, 3)).toBe('no 0 10000 10000 3000');
    expect(ask(model, 14_000, 0)).toBe('yes 2 0 7000 7000');
  });

  it('takes back the entries of exactly that time', () => {
    const model = modelOf(rule('sliding-window', 3, 10_000));
    model.tryAcquire(1000, 2);
    model.tryAcquire(4000, 1);
    model.giveBack(1, 1000, 5000);
    expect(model.peek(5000, 0)).toMatchObject({ remaining: 1, moreAfterMillis: 6000 });
    model.giveBack(1, 1000, 5000);
    expect(model.peek(5000, 0)).toMatchObject({ remaining: 2, moreAfterMillis: 9000 });
  });
});

describe('the model of the sliding window counter', () => {
  it('lets the previous window fade, at 4 per 10 s', () => {
    const model = modelOf(rule('sliding-window-counter', 4, 10_000));
    expect(ask(model, 9000, 4)).toBe('yes 0 0 11000 3500');
    expect(ask(model, 10_000)).toBe('no 0 2500 10000 2500');
    expect(ask(model, 12_499)).toBe('no 0 1 7501 1');
    expect(ask(model, 12_500)).toBe('yes 0 0 17500 2500');
    expect(ask(model, 15_000, 2)).toBe('no 1 2500 15000 2500');
    expect(ask(model, 20_000, 0)).toBe('yes 3 0 10000 10000');
    expect(ask(model, 30_000, 0)).toBe('yes 4 0 0 0');
  });

  it('takes back from the window of the take while it counts', () => {
    const model = modelOf(rule('sliding-window-counter', 4, 10_000));
    model.tryAcquire(9000, 4);
    model.giveBack(2, 9000, 15_000);
    expect(model.peek(15_000, 0).remaining).toBe(3);
    model.tryAcquire(15_000, 3);
    model.giveBack(2, 9000, 20_000);
    expect(model.peek(20_000, 0).remaining).toBe(1);
  });
});

describe('the model of joined rules', () => {
  const both = () =>
    new ModelPolicy([rule('token-bucket', 5, 10_000), rule('fixed-window', 3, 60_000)]);

  it('spends on all or on none, and says the scarcest and the longest', () => {
    const model = both();
    expect(ask(model, 0, 3)).toBe('yes 0 0 60000 60000');
    expect(model.peek(0, 3)).toMatchObject({
      allowed: false,
      reason: 'quota',
      limit: 3,
      rules: [
        { allowed: false, remaining: 2, retryAfterMillis: 2000 },
        { allowed: false, remaining: 0, retryAfterMillis: 60_000 },
      ],
    });
    expect(ask(model, 6000)).toBe('no 0 54000 54000 54000');
    expect(model.peek(6000, 1).rules[0]).toMatchObject({ allowed: true, remaining: 5 });
  });

  it('says never when the cost is beyond one of them', () => {
    expect(both().peek(0, 4)).toMatchObject({
      allowed: false,
      reason: 'never',
      limit: 3,
      remaining: 3,
      retryAfterMillis: Number.POSITIVE_INFINITY,
    });
  });

  it('says no growth when the scarcest is full', () => {
    const model = new ModelPolicy([rule('fixed-window', 2, 1000), rule('fixed-window', 4, 60_000)]);
    model.tryAcquire(0, 2);
    expect(model.peek(0, 0)).toMatchObject({ remaining: 0, moreAfterMillis: 1000 });
    expect(model.peek(1000, 0)).toMatchObject({ remaining: 2, moreAfterMillis: 0 });
  });
});

describe('charging more in the model', () => {
  it('overdraws a bucket by one capacity and no more', () => {
    const model = modelOf(rule('token-bucket', 5, 10_000));
    model.tryAcquire(0, 4);
    expect(model.charge(3, 0)).toBe(0);
    expect(model.peek(0, 1)).toMatchObject({ allowed: false, remaining: 0 });
    expect(model.peek(0, 1)).toMatchObject({ retryAfterMillis: 6000, resetAfterMillis: 14_000 });
    expect(model.charge(9, 0)).toBe(6);
    expect(model.peek(0, 0)).toMatchObject({ allowed: true, resetAfterMillis: 20_000 });
  });

  it('fills a window and no more', () => {
    const model = modelOf(rule('fixed-window', 5, 10_000));
    model.tryAcquire(0, 4);
    expect(model.charge(3, 0)).toBe(2);
    expect(model.peek(0, 1)).toMatchObject({ allowed: false, retryAfterMillis: 10_000 });
  });
});

describe('giving back in the model', () => {
  const rules = fc.record({
    algorithm: fc.constantFrom<Algorithm>(
      'token-bucket',
      'fixed-window',
      'sliding-window',
      'sliding-window-counter',
    ),
    limit: fc.integer({ min: 1, max: 9 }),
    windowMillis: fc.integer({ min: 1, max: 30 }),
  });
  const calls = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 5 })),
    { maxLength: 20 },
  );

  it('never leaves more room than if the refunded had not been', () => {
    fc.assert(
      fc.property(rules, fc.nat(40), fc.nat(8), calls, (numbers, start, refunded, later) => {
        const given = modelOf(numbers);
        const without = modelOf(numbers);
        const first = given.tryAcquire(start, Math.min(refunded, numbers.limit));
        let now = start;
        for (const [wait, cost] of later) {
          now += wait;
          if (given.tryAcquire(now, cost).allowed) without.tryAcquire(now, cost);
        }
        given.giveBack(first.allowed ? Math.min(refunded, numbers.limit) : 0, start, now);
        for (let r = 0; r < 60; r++) {
          const room = without.peek(now + r, 0).remaining;
          expect(given.peek(now + r, 0).remaining).toBeLessThanOrEqual(room);
        }
      }),
      { seed: 20_260_101, numRuns: 200 },
    );
  });
});
