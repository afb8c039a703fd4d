import fc from 'fast-check';
import { LimiterFactory, MemoryStore } from '../../src/core/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Subject } from './support.js';
import {
  ALGORITHMS,
  holds,
  joinedRules,
  keyed,
  lineOf,
  play,
  rulesOf,
  starts,
  steps,
  storeFor,
  textOf,
} from './support.js';

const STRANGE_KEYS: readonly string[] = [
  '',
  ' ',
  '0',
  '__proto__',
  'constructor',
  'a|b',
  'a&b',
  'a\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff',
  'é',
  'e\u0301',
  'A',
  'a',
  'x'.repeat(10_000),
  `${'x'.repeat(9999)}y`,
];

const keys = fc.uniqueArray(
  fc.oneof(fc.constantFrom(...STRANGE_KEYS), fc.string({ unit: 'binary', maxLength: 40 })),
  { minLength: 1, maxLength: 6 },
);

describe('keys are independent', () => {
  it('each key is answered as if it were alone', () => {
    const anyRules = fc.oneof(
      rulesOf(...ALGORITHMS).map((rule) => [rule]),
      joinedRules,
    );
    holds(
      600,
      fc.property(anyRules, starts, keys, steps, (rules, start, names, script) => {
        const clock = new FakeClock(start);
        const together = new LimiterFactory(clock, storeFor(6)).createKeyed(textOf(rules));
        const alone = new Map<string, Subject>();
        const answers: [string, string][] = [];
        play(rules, start, script, (now, cost, { pick }) => {
          const name = names[pick % names.length] ?? '';
          const subject = alone.get(name) ?? keyed(textOf(rules), start);
          alone.set(name, subject);
          clock.set(now);
          subject.clock.set(now);
          const decision = subject.tryAcquire(cost);
          answers.push([lineOf(together.tryAcquire(name, cost)), lineOf(decision)]);
          return decision;
        });
        expect(answers.map(([got]) => got)).toEqual(answers.map(([, expected]) => expected));
      }),
    );
  });

  it('a key that moves in where another was, or still is, is as good as new', () => {
    const parts = fc.record({
      rule: rulesOf(...ALGORITHMS),
      start: starts,
      script: steps,
      later: steps,
    });
    holds(
      400,
      fc.property(parts, fc.boolean(), ({ rule, start, script, later }, isPutOut) => {
        const clock = new FakeClock(start);
        const store = new MemoryStore({ maxKeys: 1 });
        const limiter = new LimiterFactory(clock, store).createKeyed(textOf([rule]));
        play([rule], start, script, (now, cost) => {
          clock.set(now);
          return limiter.tryAcquire('who was here', cost);
        });
        if (!isPutOut) clock.advance(limiter.peek('who was here', 0).resetAfterMillis);
        const fresh = keyed(textOf([rule]), clock.nowMillis());
        play([rule], clock.nowMillis(), later, (now, cost) => {
          clock.set(now);
          fresh.clock.set(now);
          const decision = fresh.tryAcquire(cost);
          expect(lineOf(limiter.tryAcquire('who moves in', cost))).toBe(lineOf(decision));
          return decision;
        });
      }),
    );
  });

  it.each(ALGORITHMS)('ten thousand keys of %s share nothing', (algorithm) => {
    const clock = new FakeClock(1_767_225_600_000);
    const limiter = new LimiterFactory(clock, new MemoryStore()).createKeyed(`${algorithm},2,1h`);
    const names = Array.from({ length: 10_000 }, (_, i) => `user-${i}`);
    for (const left of [1, 0]) {
      const wrong = names.filter((name) => limiter.tryAcquire(name).remaining !== left);
      expect(wrong).toEqual([]);
    }
    expect(names.filter((name) => limiter.tryAcquire(name).allowed)).toEqual([]);
  });

  it('strange keys are all told apart', () => {
    const limiter = new LimiterFactory(new FakeClock(), new MemoryStore()).createKeyed(
      'fixed-window,1,1h',
    );
    expect(STRANGE_KEYS.map((key) => limiter.tryAcquire(key).allowed)).toEqual(
      STRANGE_KEYS.map(() => true),
    );
    expect(STRANGE_KEYS.map((key) => limiter.tryAcquire(key).allowed)).toEqual(
      STRANGE_KEYS.map(() => false),
    );
  });

  it('rules of one store do not meet in one key', () => {
    const store = new MemoryStore();
    const factory = new LimiterFactory(new FakeClock(), new MemoryStore());
    const rules = [
      'fixed-window,1,1h',
      'fixed-window,1,1d',
      'sliding-window,1,1h',
      'sliding-window-counter,1,1h',
      'token-bucket,1,1h',
      'token-bucket,1,1h,name=other',
    ];
    for (const limiters of [
      rules.map((rule) => factory.createKeyed(rule)),
      rules.map((rule) => factory.createKeyed(rule, { store })),
    ]) {
      const ask = () => limiters.map((limiter) => limiter.tryAcquire('alice').allowed);
      expect(ask()).toEqual(rules.map(() => true));
      expect(ask()).toEqual(rules.map(() => false));
    }
  });

  it('a limiter counts alone, and in a store handed to it with those of the same rule', () => {
    const store = new MemoryStore();
    const factory = new LimiterFactory(new FakeClock(), new MemoryStore());
    const alone = () => factory.createKeyed('fixed-window,1,1h');
    const shared = () => factory.createKeyed('fixed-window,1,1h', { store });
    expect(alone().tryAcquire('alice').allowed).toBe(true);
    expect(alone().tryAcquire('alice').allowed).toBe(true);
    expect(shared().tryAcquire('alice').allowed).toBe(true);
    expect(shared().tryAcquire('alice').allowed).toBe(false);
  });
});
