import fc from 'fast-check';
import { ModelPolicy } from '../model/model.js';
import {
  ALGORITHMS,
  holds,
  joinedRules,
  keyed,
  lineOf,
  rulesOf,
  single,
  starts,
  textOf,
} from './support.js';

/** Time as limiters see it: it stands still where the clock steps back, and then goes on. */
class AbsorbedTime {
  private seen: number;

  constructor(private last: number) {
    this.seen = last;
  }

  read(clockMillis: number): number {
    this.seen += Math.max(0, clockMillis - this.last);
    this.last = clockMillis;
    return this.seen;
  }
}

const moves = fc.array(
  fc.record({
    /** Below zero the clock steps back: by an NTP correction, or by years. */
    move: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 40 }) },
      { weight: 2, arbitrary: fc.integer({ min: -40, max: 0 }) },
      { weight: 1, arbitrary: fc.constantFrom(-1e11, -3_600_000, -1, 1, 3_600_000, 1e11) },
    ),
    cost: fc.integer({ min: 0, max: 5 }),
    calls: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 40, size: 'max' },
);

const anyRules = fc.oneof(
  { weight: 4, arbitrary: rulesOf(...ALGORITHMS).map((rule) => [rule]) },
  { weight: 1, arbitrary: joinedRules },
);

describe('a clock that steps back', () => {
  it('never throws, and time goes on from where it was', () => {
    holds(
      1500,
      fc.property(anyRules, starts, moves, (rules, start, script) => {
        for (const door of [single, keyed]) {
          const subject = door(textOf(rules), start);
          const model = new ModelPolicy(rules);
          const time = new AbsorbedTime(start);
          const [got, expected]: [string[], string[]] = [[], []];
          subject.peek(0);
          let clock = start;
          for (const { move, cost, calls } of script) {
            clock = Math.max(0, clock + move);
            subject.clock.set(clock);
            for (let i = 0; i < calls; i++) {
              const now = time.read(clock);
              got.push(`at ${clock} cost ${cost} → ${lineOf(subject.tryAcquire(cost))}`);
              expected.push(`at ${clock} cost ${cost} → ${lineOf(model.tryAcquire(now, cost))}`);
            }
          }
          expect(got).toEqual(expected);
        }
      }),
    );
  });

  it.each(ALGORITHMS)('gives no caller of %s a second helping', (algorithm) => {
    const subject = keyed(`${algorithm},3,10`, 1_767_225_600_000);
    expect(subject.tryAcquire(3).allowed).toBe(true);
    subject.clock.set(1_767_225_600_000 - 86_400_000);
    expect(subject.tryAcquire(1).allowed).toBe(false);
    subject.clock.set(0);
    const { allowed, resetAfterMillis } = subject.tryAcquire(1);
    expect(allowed).toBe(false);
    subject.clock.advance(resetAfterMillis);
    expect(subject.tryAcquire(3)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it.each(ALGORITHMS)('blocks no caller of %s for longer than the hint said', (algorithm) => {
    const subject = single(`${algorithm},3,10`, 1_767_225_600_000);
    subject.tryAcquire(3);
    const { retryAfterMillis } = subject.tryAcquire(1);
    subject.clock.set(5);
    expect(subject.tryAcquire(1)).toMatchObject({ allowed: false, retryAfterMillis });
    subject.clock.advance(retryAfterMillis - 1);
    expect(subject.tryAcquire(1)).toMatchObject({ allowed: false, retryAfterMillis: 1 });
    subject.clock.advance(1);
    expect(subject.tryAcquire(1).allowed).toBe(true);
  });
});
