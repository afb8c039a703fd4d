import fc from 'fast-check';
import { LimiterFactory, MemoryStore, RateLimitConfigError } from '../../src/core/index.js';
import { FakeClock } from '../../src/testing/index.js';
import { capacityOf } from '../model/model.js';
import type { Door, Step, Subject } from './support.js';
import {
  ALGORITHMS,
  holds,
  joinedRules,
  keyed,
  lineOf,
  play,
  rulesOf,
  single,
  starts,
  steps,
  textOf,
} from './support.js';

const NO_COSTS: readonly unknown[] = [
  Number.NaN,
  -1,
  -0.5,
  0.5,
  1.000_000_1,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  '1',
  '',
  null,
  true,
  1n,
  {},
  [1],
];

const askWith = (subject: Subject, cost: unknown) => subject.tryAcquire(cost as number);

/** Things to do to a key that must leave no trace. */
const IDLE: readonly ((subject: Subject, step: Step) => void)[] = [
  (subject) => {
    const { remaining } = subject.peek(0);
    expect(subject.tryAcquire(remaining + 1).allowed).toBe(false);
  },
  (subject) => {
    expect(subject.tryAcquire(Number.MAX_SAFE_INTEGER)).toMatchObject({
      allowed: false,
      reason: 'never',
      retryAfterMillis: Number.POSITIVE_INFINITY,
    });
  },
  (subject) => expect(subject.tryAcquire(0).allowed).toBe(true),
  (subject, { pick }) => expect(subject.peek(pick % 13)).toBeDefined(),
  (subject, { pick }) => {
    expect(() => askWith(subject, NO_COSTS[pick % NO_COSTS.length])).toThrow(RangeError);
  },
  () => undefined,
];

describe('a refusal changes nothing', () => {
  it('nor do a peek, a cost of 0 and a cost that is none', () => {
    const anyRules = fc.oneof(
      rulesOf(...ALGORITHMS).map((rule) => [rule]),
      joinedRules,
    );
    holds(
      800,
      fc.property(anyRules, starts, steps, (rules, start, script) => {
        const bothered = keyed(textOf(rules), start);
        const left = keyed(textOf(rules), start);
        const answers: [string, string][] = [];
        play(rules, start, script, (now, cost, step) => {
          bothered.clock.set(now);
          left.clock.set(now);
          IDLE[step.pick % IDLE.length]?.(bothered, step);
          const decision = left.tryAcquire(cost);
          answers.push([lineOf(bothered.tryAcquire(cost)), lineOf(decision)]);
          return decision;
        });
        expect(answers.map(([got]) => got)).toEqual(answers.map(([, expected]) => expected));
      }),
    );
  });
});

describe('a cost', () => {
  const doors: readonly (readonly [string, Door])[] = [
    ['a limiter', single],
    ['a keyed limiter', keyed],
  ];

  describe.each(doors)('of %s', (_, door) => {
    it.each(NO_COSTS.map((cost) => [cost]))('of %p is a RangeError and takes nothing', (cost) => {
      for (const algorithm of ALGORITHMS) {
        const subject = door(`${algorithm},3,10`, 0);
        expect(() => askWith(subject, cost)).toThrow(RangeError);
        expect(() => subject.peek(cost as number)).toThrow(RangeError);
        expect(subject.peek(0)).toMatchObject({ remaining: 3, resetAfterMillis: 0 });
      }
    });

    it('of 1 is taken when none is told', () => {
      for (const algorithm of ALGORITHMS) {
        expect(door(`${algorithm},3,10`, 0).tryAcquire()).toMatchObject({ remaining: 2 });
        expect(door(`${algorithm},3,10`, 0).tryAcquire(undefined)).toMatchObject({ remaining: 2 });
      }
    });

    it('of 0 is let in where nothing is left', () => {
      for (const algorithm of ALGORITHMS) {
        const subject = door(`${algorithm},3,10`, 0);
        subject.tryAcquire(3);
        expect(subject.tryAcquire(0)).toMatchObject({ allowed: true, remaining: 0 });
        expect(subject.tryAcquire(-0)).toMatchObject({ allowed: true, remaining: 0 });
      }
    });

    it('beyond the capacity is never let in, and the answer says so', () => {
      holds(
        200,
        fc.property(rulesOf(...ALGORITHMS), fc.integer({ min: 1 }), (rule, more) => {
          const subject = door(textOf([rule]), 0);
          expect(subject.tryAcquire(capacityOf(rule) + more)).toMatchObject({
            allowed: false,
            reason: 'never',
            remaining: capacityOf(rule),
            retryAfterMillis: Number.POSITIVE_INFINITY,
            resetAfterMillis: 0,
            moreAfterMillis: 0,
          });
          expect(subject.tryAcquire(capacityOf(rule))).toMatchObject({ allowed: true });
        }),
      );
    });
  });
});

describe('a rule whose numbers cannot be kept exactly', () => {
  const create = (rule: string) => () => new LimiterFactory(new FakeClock()).create(rule);
  const createKeyed = (rule: string) => () =>
    new LimiterFactory(new FakeClock(), new MemoryStore()).createKeyed(rule);

  it.each([
    // twice the burst times the window, over what limit and window share, reaches 2^53
    [`token-bucket,1,1ms,burst=${2 ** 52}`, `token-bucket,1,1ms,burst=${2 ** 52 - 1}`],
    ['token-bucket,6,4ms,burst=2251799813685248', 'token-bucket,6,4ms,burst=2251799813685247'],
    ['token-bucket,1,365d,burst=142809', 'token-bucket,1,365d,burst=142808'],
    // four times the limit, over what it shares with the window, reaches 2^53
    [`token-bucket,${2 ** 51},1ms,burst=1`, `token-bucket,${2 ** 51 - 1},1ms,burst=1`],
    // limit times window reaches 2^53
    ['sliding-window-counter,4398046511104,2048ms', 'sliding-window-counter,4398046511103,2048ms'],
    ['sliding-window-counter,285617,365d', 'sliding-window-counter,285616,365d'],
    // a log longer than a log may be
    ['sliding-window,1001,60', 'sliding-window,1000,60'],
  ])('%s is refused when the limiter is made, and %s is not', (refused, kept) => {
    expect(create(refused)).toThrow(RateLimitConfigError);
    expect(createKeyed(refused)).toThrow(RateLimitConfigError);
    expect(createKeyed(`fixed-window,1,1 & ${refused}`)).toThrow(RateLimitConfigError);
    expect(create(kept)).not.toThrow();
    expect(createKeyed(kept)).not.toThrow();
  });
});
