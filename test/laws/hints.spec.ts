import fc from 'fast-check';
import type { RuleNumbers } from '../model/model.js';
import { capacityOf } from '../model/model.js';
import type { Step, Subject } from './support.js';
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

/** Any history, by the product's own answers; the laws below look at what it leaves behind. */
function live(subject: Subject, rules: readonly RuleNumbers[], script: readonly Step[]): void {
  play(rules, subject.clock.nowMillis(), script, (now, cost) => {
    subject.clock.set(now);
    return subject.tryAcquire(cost);
  });
}

const anyRules = fc.oneof(
  { weight: 3, arbitrary: rulesOf(...ALGORITHMS).map((rule) => [rule]) },
  { weight: 1, arbitrary: joinedRules },
);

const costs = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 }), fc.nat(1_000_000));

describe('the hint is true', () => {
  it('the same call alone is refused a millisecond before the wait is over and let in then', () => {
    let refusals = 0;
    const law = fc.property(anyRules, starts, steps, costs, (rules, start, script, cost) => {
      const subject = keyed(textOf(rules), start);
      live(subject, rules, script);
      const { allowed, retryAfterMillis } = subject.tryAcquire(cost);
      if (allowed || retryAfterMillis === Number.POSITIVE_INFINITY) return;
      refusals++;
      expect(retryAfterMillis).toBeGreaterThanOrEqual(1);
      subject.clock.advance(retryAfterMillis - 1);
      expect(subject.tryAcquire(cost)).toMatchObject({ allowed: false, retryAfterMillis: 1 });
      subject.clock.advance(1);
      expect(subject.peek(cost).allowed).toBe(true);
      expect(subject.tryAcquire(cost).allowed).toBe(true);
    });
    holds(2000, law);
    expect(refusals).toBeGreaterThan(400);
  });

  it('waiting as told at every refusal is always enough', () => {
    holds(
      300,
      fc.property(rulesOf(...ALGORITHMS), starts, steps, (rule, start, script) => {
        const subject = single(textOf([rule]), start);
        play([rule], start, script, (now, cost) => {
          if (now > subject.clock.nowMillis()) subject.clock.set(now);
          const { allowed, retryAfterMillis } = subject.tryAcquire(cost);
          if (!allowed && retryAfterMillis < 1e12) {
            subject.clock.advance(retryAfterMillis);
            expect(subject.tryAcquire(cost).allowed).toBe(true);
          }
          return subject.peek(0);
        });
      }),
    );
  });
});

describe('remaining is truthful', () => {
  it('exactly so many further calls are let in at the same instant and the next is refused', () => {
    holds(
      600,
      fc.property(anyRules, starts, steps, (rules, start, script) => {
        const subject = keyed(textOf(rules), start);
        live(subject, rules, script);
        let { remaining } = subject.peek(0);
        const oneByOne = Math.min(remaining, 60);
        expect(subject.tryAcquire(remaining - oneByOne).allowed).toBe(true);
        for (remaining = oneByOne; remaining > 0; remaining--) {
          const decision = subject.tryAcquire();
          expect([decision.allowed, decision.remaining]).toEqual([true, remaining - 1]);
        }
        expect(subject.tryAcquire()).toMatchObject({ allowed: false, remaining: 0 });
      }),
    );
  });
});

describe('what is said of the time to come is truthful', () => {
  it('remaining grows after moreAfterMillis and not a millisecond before', () => {
    holds(
      1000,
      fc.property(anyRules, starts, steps, (rules, start, script) => {
        const subject = keyed(textOf(rules), start);
        live(subject, rules, script);
        const { remaining, moreAfterMillis } = subject.peek(0);
        if (moreAfterMillis === 0) {
          expect(remaining).toBe(Math.min(...rules.map(capacityOf)));
          return;
        }
        subject.clock.advance(moreAfterMillis - 1);
        expect(subject.peek(0).remaining).toBe(remaining);
        subject.clock.advance(1);
        expect(subject.peek(0).remaining).toBeGreaterThan(remaining);
      }),
    );
  });

  it('a key is as good as new after resetAfterMillis and not a millisecond before', () => {
    holds(
      1000,
      fc.property(anyRules, starts, steps, steps, (rules, start, script, later) => {
        const subject = keyed(textOf(rules), start);
        live(subject, rules, script);
        const { resetAfterMillis } = subject.peek(0);
        if (resetAfterMillis > 0) {
          subject.clock.advance(resetAfterMillis - 1);
          const before = subject.peek(0);
          expect(before.resetAfterMillis).toBe(1);
          const parts = before.rules ?? [before];
          expect(parts.some(({ remaining, limit }) => remaining < limit)).toBe(true);
          subject.clock.advance(1);
        }
        const now = subject.clock.nowMillis();
        const fresh = keyed(textOf(rules), now);
        expect(subject.peek(0)).toMatchObject({ resetAfterMillis: 0, moreAfterMillis: 0 });
        play(rules, now, later, (then, cost) => {
          subject.clock.set(then);
          fresh.clock.set(then);
          const decision = fresh.tryAcquire(cost);
          expect(lineOf(subject.tryAcquire(cost))).toBe(lineOf(decision));
          return decision;
        });
      }),
    );
  });
});
