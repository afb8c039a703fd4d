import fc from 'fast-check';
import {
  assertCost,
  blockedDecision,
  continueDecision,
  type Decision,
  joinDecisions,
  type RuleDecision,
  rulesOf,
  UNLIMITED,
} from '../../src/core/decision.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { ALGORITHMS, holds } from '../laws/support.js';

const rule = (name: string, given: Partial<RuleDecision> = {}): RuleDecision => {
  const retryAfterMillis = given.retryAfterMillis ?? 0;
  return {
    name,
    allowed: retryAfterMillis === 0,
    limit: 10,
    windowMillis: 1000,
    remaining: 5,
    resetAfterMillis: 0,
    moreAfterMillis: 0,
    ...given,
    retryAfterMillis,
  };
};

const NEVER = Number.POSITIVE_INFINITY;

describe('the decision of joined rules', () => {
  it.each<[what: string, rules: RuleDecision[], decision: Partial<Decision>]>([
    [
      'allowed when all allow, told by the scarcest',
      [
        rule('a', { remaining: 3, limit: 30, windowMillis: 300 }),
        rule('b', { remaining: 2, limit: 20, windowMillis: 200 }),
        rule('c', { remaining: 4, limit: 40, windowMillis: 400 }),
      ],
      {
        allowed: true,
        reason: undefined,
        policy: 'b',
        limit: 20,
        windowMillis: 200,
        remaining: 2,
        retryAfterMillis: 0,
      },
    ],
    [
      'told by the first of equally scarce ones',
      [rule('a', { remaining: 3 }), rule('b', { remaining: 2 }), rule('c', { remaining: 2 })],
      { allowed: true, policy: 'b', remaining: 2 },
    ],
    [
      'refused when one refuses, told by it and not by the scarcest',
      [
        rule('a', { remaining: 0, limit: 30 }),
        rule('b', { remaining: 2, retryAfterMillis: 7, limit: 20, windowMillis: 200 }),
      ],
      {
        allowed: false,
        reason: 'quota',
        policy: 'b',
        limit: 20,
        windowMillis: 200,
        remaining: 0,
        retryAfterMillis: 7,
      },
    ],
    [
      'told by the refusing rule with the longest wait',
      [
        rule('a', { remaining: 0, retryAfterMillis: 5 }),
        rule('b', { remaining: 1, retryAfterMillis: 9 }),
        rule('c', { remaining: 0, retryAfterMillis: 8 }),
      ],
      { allowed: false, reason: 'quota', policy: 'b', remaining: 0, retryAfterMillis: 9 },
    ],
    [
      'told by the first of those that wait equally long',
      [rule('a'), rule('b', { retryAfterMillis: 9 }), rule('c', { retryAfterMillis: 9 })],
      { policy: 'b' },
    ],
    [
      'never when one of them never allows it',
      [rule('a', { retryAfterMillis: 9e9 }), rule('b', { retryAfterMillis: NEVER })],
      { allowed: false, reason: 'never', policy: 'b', retryAfterMillis: NEVER },
    ],
    [
      'reset with the last of them',
      [
        rule('a', { resetAfterMillis: 5 }),
        rule('b', { resetAfterMillis: 9, remaining: 9 }),
        rule('c', { resetAfterMillis: 7 }),
      ],
      { resetAfterMillis: 9 },
    ],
    [
      'more when the slowest of the scarcest has more',
      [
        rule('a', { remaining: 2, moreAfterMillis: 5 }),
        rule('b', { remaining: 2, moreAfterMillis: 8 }),
        rule('c', { remaining: 3, moreAfterMillis: 99 }),
        rule('d', { remaining: 2, moreAfterMillis: 7 }),
      ],
      { moreAfterMillis: 8 },
    ],
    [
      'never more while one of the scarcest is full',
      [
        rule('a', { remaining: 2, moreAfterMillis: 5 }),
        rule('b', { remaining: 2, moreAfterMillis: 0, limit: 2 }),
      ],
      { moreAfterMillis: 0 },
    ],
    [
      'more although one that is not scarce is full',
      [rule('a', { remaining: 2, moreAfterMillis: 5 }), rule('b', { remaining: 3, limit: 3 })],
      { moreAfterMillis: 5 },
    ],
  ])('is %s', (_what, rules, decision) => {
    expect(joinDecisions(rules)).toMatchObject(decision);
    expect(joinDecisions(rules).rules).toEqual(rules);
  });

  it('is the same in words of sorting, whatever the numbers are', () => {
    const small = fc.integer({ min: 0, max: 3 });
    const numbers = fc.record({
      remaining: small,
      retryAfterMillis: fc.oneof(small, fc.constant(NEVER)),
      resetAfterMillis: small,
      moreAfterMillis: small,
      limit: fc.integer({ min: 1, max: 4 }),
      windowMillis: fc.integer({ min: 1, max: 4 }),
    });
    holds(
      1000,
      fc.property(fc.array(numbers, { minLength: 2, maxLength: 5 }), (all) => {
        const rules = all.map((one, i) => rule(`r${i}`, one));
        const by = (f: (r: RuleDecision) => number) => [...rules].sort((a, b) => f(a) - f(b));
        const scarcest = by(({ remaining }) => remaining)[0]!;
        const slowest = by(({ retryAfterMillis: wait }) => (wait === NEVER ? -9 : -wait))[0]!;
        const allowed = rules.every((one) => one.allowed);
        const more = rules
          .filter(({ remaining }) => remaining === scarcest.remaining)
          .map(({ moreAfterMillis }) => moreAfterMillis);
        const telling = allowed ? scarcest : slowest;
        expect(joinDecisions(rules)).toEqual({
          allowed,
          reason: allowed ? undefined : slowest.retryAfterMillis === NEVER ? 'never' : 'quota',
          policy: telling.name,
          limit: telling.limit,
          windowMillis: telling.windowMillis,
          remaining: scarcest.remaining,
          retryAfterMillis: slowest.retryAfterMillis,
          resetAfterMillis: Math.max(...rules.map((one) => one.resetAfterMillis)),
          moreAfterMillis: more.includes(0) ? 0 : Math.max(...more),
          rules,
        });
      }),
    );
  });

  it('is what a policy of several rules answers', () => {
    const limiter = new LimiterFactory(new FakeClock(5000)).create(
      'token-bucket,5,10 & fixed-window,100,1d,name=day',
    );
    for (let i = 0; i < 5; i++) limiter.tryAcquire();
    expect(limiter.tryAcquire()).toEqual({
      allowed: false,
      reason: 'quota',
      policy: 'limiter',
      limit: 5,
      windowMillis: 10_000,
      remaining: 0,
      retryAfterMillis: 2000,
      resetAfterMillis: 86_395_000,
      moreAfterMillis: 2000,
      rules: [
        {
          name: 'limiter',
          allowed: false,
          limit: 5,
          windowMillis: 10_000,
          remaining: 0,
          retryAfterMillis: 2000,
          resetAfterMillis: 10_000,
          moreAfterMillis: 2000,
        },
        {
          name: 'day',
          allowed: true,
          limit: 100,
          windowMillis: 86_400_000,
          remaining: 95,
          retryAfterMillis: 0,
          resetAfterMillis: 86_395_000,
          moreAfterMillis: 86_395_000,
        },
      ],
    });
  });
});

describe('the decision of one rule', () => {
  it('has no list of rules, and is one when asked for a list', () => {
    const decision = new LimiterFactory(new FakeClock()).create('fixed-window,2,10').tryAcquire();
    expect(decision).toEqual({
      allowed: true,
      reason: undefined,
      policy: 'limiter',
      limit: 2,
      windowMillis: 10_000,
      remaining: 1,
      retryAfterMillis: 0,
      resetAfterMillis: 10_000,
      moreAfterMillis: 10_000,
      rules: undefined,
    });
    expect(rulesOf(decision)).toMatchObject([{ name: 'limiter', limit: 2, remaining: 1 }]);
  });

  it('is the list it has when there are several', () => {
    const decision = joinDecisions([rule('a'), rule('b')]);
    expect(rulesOf(decision)).toBe(decision.rules);
  });

  it('is unlimited where no rule applies', () => {
    expect(UNLIMITED).toMatchObject({ allowed: true, remaining: NEVER, retryAfterMillis: 0 });
    expect(Object.isFrozen(UNLIMITED)).toBe(true);
  });

  it('is blocked for as long as both the block and the rule refuse', () => {
    const decision = joinDecisions([rule('a', { retryAfterMillis: 500, remaining: 0 }), rule('b')]);
    expect(blockedDecision(decision, 300)).toEqual({
      ...decision,
      allowed: false,
      reason: 'blocked',
      retryAfterMillis: 500,
    });
    expect(blockedDecision(decision, 700)).toMatchObject({ retryAfterMillis: 700 });
  });
});

describe.each(ALGORITHMS)('a cost under %s', (algorithm) => {
  const create = (policy = `${algorithm},3,10`) =>
    new LimiterFactory(new FakeClock(50_000)).create(policy);

  it('is always allowed when it is 0, and takes nothing', () => {
    const limiter = create();
    expect(limiter.tryAcquire(0)).toMatchObject({
      allowed: true,
      remaining: 3,
      resetAfterMillis: 0,
    });
    limiter.tryAcquire(3);
    expect(limiter.tryAcquire(0)).toMatchObject({
      allowed: true,
      reason: undefined,
      remaining: 0,
      retryAfterMillis: 0,
    });
  });

  it.each([4, 1000, 2 ** 53])('never fits above the capacity: %d', (cost) => {
    for (const limiter of [create(), create(`${algorithm},3,10 & fixed-window,5000,10`)]) {
      expect(limiter.tryAcquire(cost)).toMatchObject({
        allowed: false,
        reason: 'never',
        limit: cost > 5000 && limiter.peek().rules ? expect.any(Number) : 3,
        remaining: 3,
        retryAfterMillis: NEVER,
      });
      expect(limiter.peek(3).allowed).toBe(true);
    }
  });

  it('fits up to the capacity', () => {
    expect(create().tryAcquire(3)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it.each([
    -1,
    -0.5,
    0.5,
    1.5,
    Number.NaN,
    NEVER,
    Number.NEGATIVE_INFINITY,
    '1',
    null,
    true,
    [],
    {},
    1n,
  ] as const)('is refused with a RangeError, and takes nothing: %p', (cost) => {
    const limiter = create();
    expect(() => limiter.tryAcquire(cost as number)).toThrow(RangeError);
    expect(() => limiter.peek(cost as number)).toThrow(RangeError);
    expect(limiter.peek()).toMatchObject({ remaining: 3, resetAfterMillis: 0 });
  });
});

describe('a cost', () => {
  it('is told as it was given', () => {
    expect(() => assertCost(-1)).toThrow('A cost is a whole number, 0 or more, got -1');
    expect(() => assertCost(Number.NaN)).toThrow('got NaN');
    expect(() => assertCost('1' as never)).toThrow('got string 1');
    expect(() => assertCost(Object.create(null))).toThrow('got object {}');
  });

  it.each([0, 1, 7, 2 ** 53 - 1])('may be %d', (cost) => {
    expect(() => assertCost(cost)).not.toThrow();
  });
});

describe('a decision that goes on from an earlier one', () => {
  const earlier = [rule('address', { remaining: 1, limit: 5 })];
  const later = joinDecisions([rule('user', { remaining: 3, limit: 9 })]);

  it('is the later one where nothing was decided before', () => {
    expect(continueDecision([], later)).toBe(later);
  });

  it('joins both when the later lets in, told by the scarcest', () => {
    const decision = continueDecision(earlier, later);
    expect(decision).toMatchObject({ allowed: true, policy: 'address', remaining: 1 });
    expect(decision.rules?.map(({ name }) => name)).toEqual(['address', 'user']);
    expect(decision).not.toHaveProperty('degraded');
  });

  it('is the earlier one alone where nothing limits later', () => {
    expect(continueDecision(earlier, UNLIMITED)).toEqual(joinDecisions(earlier));
  });

  it('refuses as long as a block lasts, which is in no rule', () => {
    const blocked = blockedDecision(later, 60_000);
    const decision = continueDecision(earlier, blocked);
    expect(decision).toMatchObject({ allowed: false, reason: 'blocked', policy: 'user', limit: 9 });
    expect(decision.retryAfterMillis).toBe(60_000);
  });

  it.each([
    [true, later],
    [false, { ...later, degraded: true }],
  ])('was made without the store if one of them was: %p', (first, second) => {
    expect(continueDecision(earlier, second, first).degraded).toBe(true);
  });
});
