import { type Counter, planCounters } from '../../src/core/counter-plan.js';
import { Policy } from '../../src/core/policy.js';
import { type StoreEntry, SynchronousStore } from '../../src/core/store.js';
import { MemoryStore } from '../../src/stores/memory/memory.store.js';
import { ALGORITHMS } from '../laws/support.js';

/** The counters of a policy's rules for these values. One place, so that limits may change. */
const countersOf = (policy: string, values: readonly string[] = ['alice', '/']): Counter[] =>
  planCounters({ policy: Policy.of(policy), place: 'default', label: 'default' }).map((plan) => ({
    plan,
    values,
  }));

const take = (policy: string, cost = 1, values?: readonly string[]): StoreEntry => ({
  counters: countersOf(policy, values),
  cost,
  mode: 'take',
});
const peek = (policy: string, cost = 1, values?: readonly string[]): StoreEntry => ({
  ...take(policy, cost, values),
  mode: 'peek',
});

/** A store and shorthands for its one-entry calls. The times are whole windows from the epoch. */
function open() {
  const store = new MemoryStore({ maxKeys: 1000 });
  const outcomeOf = (entry: StoreEntry, now: number) => store.decide([entry], now)[0]!;
  return {
    store,
    spend: (policy: string, now: number, cost = 1) => outcomeOf(take(policy, cost), now),
    decide: (entry: StoreEntry, now: number) => outcomeOf(entry, now).decision,
    left: (policy: string, now: number) => outcomeOf(peek(policy, 0), now).decision.remaining,
  };
}

const T0 = 1_000_000;

describe('the memory store', () => {
  it('is a store that answers at once, with a name', () => {
    expect(new MemoryStore()).toBeInstanceOf(SynchronousStore);
    expect(new MemoryStore().name).toBe('memory');
  });

  it.each(ALGORITHMS)('takes what fits of %s, and refuses the rest', (algorithm) => {
    const { decide } = open();
    const policy = `${algorithm},3,10`;
    expect(decide(take(policy, 2), T0)).toMatchObject({ allowed: true, remaining: 1 });
    expect(decide(take(policy, 2), T0)).toMatchObject({
      allowed: false,
      reason: 'quota',
      remaining: 1,
    });
    expect(decide(take(policy, 1), T0)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it.each(ALGORITHMS)('peeks at %s without taking', (algorithm) => {
    const { decide } = open();
    const policy = `${algorithm},3,10`;
    for (let i = 0; i < 5; i++) {
      expect(decide(peek(policy, 3), T0)).toMatchObject({ allowed: true, remaining: 3 });
    }
    decide(take(policy, 2), T0);
    expect(decide(peek(policy, 2), T0)).toEqual(decide(take(policy, 2), T0));
    expect(decide(peek(policy, 2), T0)).toMatchObject({ allowed: false, remaining: 1 });
    expect(decide(take(policy, 1), T0).allowed).toBe(true);
  });

  it('decides entries in their order, at one moment, and answers each with its receipt', () => {
    const store = new MemoryStore();
    const policy = 'fixed-window,2,10';
    const entries = [
      take(policy),
      peek(policy),
      take(policy),
      take(policy),
      take(policy, 1, ['b']),
    ];
    const outcomes = store.decide(entries, T0);
    expect(outcomes.map(({ decision }) => [decision.allowed, decision.remaining])).toEqual([
      [true, 1],
      [true, 1],
      [true, 0],
      [false, 0],
      [true, 1],
    ]);
    expect(outcomes.map(({ entry }) => entry)).toEqual(entries);
    expect(outcomes.map(({ takenAtMillis }) => takenAtMillis)).toEqual(entries.map(() => T0));
    expect(store.decide([], T0)).toEqual([]);
  });

  it('counts each list of values by itself, whatever they hold', () => {
    const { decide } = open();
    const lists = [
      ...[['alice', '/'], ['alice', ''], ['', 'alice/'], ['alice/'], ['alice', '/', ''], [], ['']],
      ...[['1:a'], ['a'], ['a|b', 'c'], ['a', 'b|c'], ['__proto__'], ['constructor'], ['\ud800']],
      ...[['\ufffd'], ['x'.repeat(10_000)], ['x'.repeat(10_001)]],
    ];
    for (const values of lists) {
      expect(decide(take('fixed-window,2,10', 1, values), T0).remaining).toBe(1);
    }
    for (const values of lists) {
      expect(decide(take('fixed-window,2,10', 1, values), T0).remaining).toBe(0);
    }
  });

  it.each(ALGORITHMS)('decides by one key of %s as by a list of one value', (algorithm) => {
    const { store, decide } = open();
    const policy = `${algorithm},3,10`;
    const { plan } = countersOf(policy)[0]!;
    for (const key of ['a', 'a', 'b', '', 'a', 'a', 'b', '@x', '\ud800']) {
      const expected = decide(peek(policy, 1, [key]), T0);
      expect(store.decideKey(plan, key, 1, 'peek', T0)).toEqual(expected);
      expect(store.decideKey(plan, key, 1, 'take', T0).allowed).toBe(expected.allowed);
      expect(store.decideKey(plan, key, 2, 'peek', T0)).toEqual(decide(peek(policy, 2, [key]), T0));
    }
    store.reset(countersOf(policy, ['a']));
    expect(store.decideKey(plan, 'a', 3, 'take', T0).allowed).toBe(true);
    expect(decide(take(policy, 1, ['a']), T0).allowed).toBe(false);
  });

  it('counts each rule by itself', () => {
    const { decide } = open();
    decide(take('fixed-window,2,10', 2), T0);
    for (const other of ['fixed-window,2,11', 'sliding-window,2,10', 'fixed-window,2,10,by=ip']) {
      expect(decide(take(other), T0)).toMatchObject({ allowed: true, remaining: 1 });
    }
  });
});

describe('joined rules in the memory store', () => {
  it.each(ALGORITHMS)('take all or none, with %s among them', (algorithm) => {
    const { decide, left } = open();
    const [scarce, ample] = [`${algorithm},2,10`, 'fixed-window,10,60'];
    for (const policy of [`${scarce} & ${ample}`, `${ample} & ${scarce}`]) {
      decide(take(policy), T0);
    }
    for (const policy of [`${scarce} & ${ample}`, `${ample} & ${scarce}`]) {
      const refused = decide(take(policy), T0);
      expect(refused).toMatchObject({ allowed: false, reason: 'quota', limit: 2, remaining: 0 });
      expect(refused.rules?.map(({ allowed }) => allowed).sort()).toEqual([false, true]);
    }
    expect(left(ample, T0)).toBe(8);
    expect(left(scarce, T0)).toBe(0);
  });

  it('share a counter with a policy that has the rule alone', () => {
    const { decide, left } = open();
    decide(take('fixed-window,3,10 & sliding-window,5,10', 2), T0);
    expect(left('fixed-window,3,10', T0)).toBe(1);
    expect(left('sliding-window,5,10', T0)).toBe(3);
  });
});

describe('giving back', () => {
  /** What is taken, when how much is given back, and how much is left then. */
  it.each<[policy: string, cost: number, back: number, after: number, left: number]>([
    ['fixed-window,10,10', 4, 4, 0, 10],
    ['fixed-window,10,10', 4, 3, 9999, 9],
    ['fixed-window,10,10', 4, 4, 10_000, 10],
    ['sliding-window,10,10', 4, 4, 0, 10],
    ['sliding-window,10,10', 4, 3, 9999, 9],
    ['sliding-window,10,10', 4, 4, 10_000, 10],
    ['sliding-window-counter,10,10', 4, 4, 0, 10],
    ['sliding-window-counter,10,10', 4, 3, 9999, 9],
    ['sliding-window-counter,10,10', 4, 4, 10_000, 10],
    ['sliding-window-counter,10,10', 4, 3, 10_000, 9],
    ['token-bucket,10,10', 4, 4, 0, 10],
    ['token-bucket,10,10', 4, 1, 0, 7],
    ['token-bucket,10,10', 4, 2, 1000, 8],
    ['token-bucket,10,10', 4, 2, 3000, 9],
    ['token-bucket,10,10', 4, 4, 3000, 10],
    ['token-bucket,10,10', 4, 4, 9000, 10],
  ])('to %s: of %d taken %d after %d ms leave %d', (policy, cost, back, after, expected) => {
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, cost);
    expect(store.settle(receipt, -back, T0 + after)).toBe(0);
    expect(left(policy, T0 + after)).toBe(expected);
  });

  it('to a fixed window leaves the next box alone', () => {
    const { store, spend, left } = open();
    const policy = 'fixed-window,10,10';
    const receipt = spend(policy, T0, 4);
    spend(policy, T0 + 10_000, 3);
    store.settle(receipt, -4, T0 + 10_001);
    expect(left(policy, T0 + 10_001)).toBe(7);
  });

  it('to a counter lightens the window it was taken in, and no other', () => {
    const policy = 'sliding-window-counter,10,10';
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, 4);
    spend(policy, T0 + 10_000, 3);
    expect(left(policy, T0 + 15_000)).toBe(5);
    store.settle(receipt, -4, T0 + 15_000);
    expect(left(policy, T0 + 15_000)).toBe(7);

    const other = open();
    const old = other.spend(policy, T0, 4);
    other.spend(policy, T0 + 10_000, 3);
    other.spend(policy, T0 + 20_000, 2);
    other.store.settle(old, -4, T0 + 20_000);
    expect(other.left(policy, T0 + 20_000)).toBe(5);
  });

  it('to a log removes entries of that very millisecond, and the others keep their time', () => {
    const policy = 'sliding-window,10,10';
    const { store, spend, left, decide } = open();
    spend(policy, T0, 2);
    const receipt = spend(policy, T0 + 1000, 3);
    spend(policy, T0 + 1000, 1);
    spend(policy, T0 + 2000, 4);
    store.settle(receipt, -3, T0 + 2000);
    expect(left(policy, T0 + 2000)).toBe(3);
    expect(left(policy, T0 + 9999)).toBe(3);
    expect(left(policy, T0 + 10_000)).toBe(5);
    expect(left(policy, T0 + 11_000)).toBe(6);
    expect(left(policy, T0 + 12_000)).toBe(10);
    expect(decide(peek(policy, 4), T0 + 2000).retryAfterMillis).toBe(8000);
  });

  it('to a log works where its ring has wrapped', () => {
    const policy = 'sliding-window,3,10';
    const { store, spend, left } = open();
    spend(policy, T0);
    spend(policy, T0 + 1);
    spend(policy, T0 + 2);
    const receipt = spend(policy, T0 + 10_000, 1);
    spend(policy, T0 + 10_001, 1);
    store.settle(receipt, -1, T0 + 10_001);
    expect(left(policy, T0 + 10_001)).toBe(1);
    expect(left(policy, T0 + 10_002)).toBe(2);
    expect(left(policy, T0 + 20_000)).toBe(2);
    expect(left(policy, T0 + 20_001)).toBe(3);
  });

  it('to a bucket gives no more than what would not have been earned since', () => {
    const policy = 'token-bucket,10,10';
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, 4);
    spend(policy, T0 + 1000, 4);
    store.settle(receipt, -4, T0 + 2000);
    expect(left(policy, T0 + 2000)).toBe(6);
    const late = spend(policy, T0 + 2000, 2);
    store.settle(late, -2, T0 + 4000);
    expect(left(policy, T0 + 4000)).toBe(6);
  });

  it('to a bucket keeps fractions of a token', () => {
    const policy = 'token-bucket,3,7ms,burst=5';
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, 5);
    store.settle(receipt, -2, T0 + 1);
    expect(left(policy, T0 + 1)).toBe(2);
    expect(left(policy, T0 + 3)).toBe(2);
    expect(left(policy, T0 + 4)).toBe(3);
  });

  it.each(ALGORITHMS)('to %s never fills it above its capacity', (algorithm) => {
    const policy = `${algorithm},3,10`;
    const { store, spend, left, decide } = open();
    const receipt = spend(policy, T0, 2);
    store.settle(receipt, -1000, T0);
    expect(left(policy, T0)).toBe(3);
    expect(decide(peek(policy, 3), T0).allowed).toBe(true);
    expect(decide(peek(policy, 0), T0).resetAfterMillis).toBe(0);
  });

  it.each(ALGORITHMS)('nothing changes nothing of %s', (algorithm) => {
    const policy = `${algorithm},3,10`;
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, 2);
    expect(store.settle(receipt, 0, T0 + 1)).toBe(0);
    expect(left(policy, T0 + 1)).toBe(1);
  });

  it.each(ALGORITHMS)('to %s that was forgotten meanwhile gives nothing away', (algorithm) => {
    const policy = `${algorithm},3,10`;
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, 2);
    store.reset(receipt.entry.counters);
    spend(policy, T0 + 25_000, 1);
    store.settle(receipt, -2, T0 + 25_000);
    expect(left(policy, T0 + 25_000)).toBe(2);
  });

  it('is done to every counter of the receipt', () => {
    const { store, spend, left } = open();
    const receipt = spend('fixed-window,10,10 & sliding-window,5,10', T0, 3);
    store.settle(receipt, -2, T0);
    expect(left('fixed-window,10,10', T0)).toBe(9);
    expect(left('sliding-window,5,10', T0)).toBe(4);
  });
});

describe('charging more', () => {
  it.each(ALGORITHMS)('takes from %s what is there', (algorithm) => {
    const policy = `${algorithm},10,10`;
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, 2);
    expect(store.settle(receipt, 3, T0)).toBe(0);
    expect(left(policy, T0)).toBe(5);
  });

  it.each(['fixed-window', 'sliding-window', 'sliding-window-counter'])(
    'goes up to the limit of %s, and the rest is dropped and told',
    (algorithm) => {
      const policy = `${algorithm},10,10`;
      const { store, spend, left, decide } = open();
      const receipt = spend(policy, T0, 2);
      expect(store.settle(receipt, 11, T0)).toBe(3);
      expect(left(policy, T0)).toBe(0);
      const { retryAfterMillis } = decide(take(policy), T0);
      expect(decide(take(policy), T0 + retryAfterMillis - 1).allowed).toBe(false);
      expect(decide(take(policy), T0 + retryAfterMillis).allowed).toBe(true);
    },
  );

  it('overdraws a bucket by one capacity at most', () => {
    const policy = 'token-bucket,10,10';
    const { store, spend, decide } = open();
    const receipt = spend(policy, T0, 2);
    expect(store.settle(receipt, 15, T0)).toBe(0);
    expect(decide(take(policy), T0)).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMillis: 8000,
      resetAfterMillis: 17_000,
      moreAfterMillis: 8000,
    });
    expect(store.settle({ ...receipt, takenAtMillis: T0 }, 15, T0)).toBe(12);
    expect(decide(take(policy), T0).retryAfterMillis).toBe(11_000);
    expect(decide(take(policy, 0), T0)).toMatchObject({ allowed: true, remaining: 0 });
    expect(decide(take(policy), T0 + 10_999).allowed).toBe(false);
    expect(decide(take(policy), T0 + 11_000).allowed).toBe(true);
  });

  it('overdraws a bucket of large numbers, and its hint is still true', () => {
    const policy = 'token-bucket,567531,63987921ms,burst=633438247';
    const { store, spend, decide } = open();
    const receipt = spend(policy, T0, 633_438_247);
    store.settle(receipt, 633_438_247, T0);
    const cost = 633_436_939;
    const { retryAfterMillis } = decide(peek(policy, cost), T0);
    expect(decide(peek(policy, cost), T0 + retryAfterMillis - 1).allowed).toBe(false);
    expect(decide(peek(policy, cost), T0 + retryAfterMillis).allowed).toBe(true);
  });

  it.each(['fixed-window,10,10 & sliding-window,5,10', 'sliding-window,5,10 & fixed-window,10,10'])(
    'tells of several counters what the one dropped that could bear least: %s',
    (policy) => {
      const { store, spend, left } = open();
      const receipt = spend(policy, T0, 3);
      expect(store.settle(receipt, 4, T0)).toBe(2);
      expect(left('fixed-window,10,10', T0)).toBe(3);
      expect(left('sliding-window,5,10', T0)).toBe(0);
    },
  );

  it.each(ALGORITHMS)('is done to %s that was forgotten meanwhile as well', (algorithm) => {
    const policy = `${algorithm},10,10`;
    const { store, spend, left } = open();
    const receipt = spend(policy, T0, 3);
    for (const forget of [() => store.reset(receipt.entry.counters), () => store.close()]) {
      forget();
      expect(store.settle(receipt, 4, T0)).toBe(0);
      expect(left(policy, T0)).toBe(6);
    }
  });

  it('is done at the time of the charge', () => {
    const { store, spend, left } = open();
    const receipt = spend('fixed-window,10,10', T0, 3);
    store.settle(receipt, 4, T0 + 10_000);
    expect(left('fixed-window,10,10', T0 + 10_000)).toBe(6);
  });
});

describe('resetting', () => {
  it.each(ALGORITHMS)('makes a counter of %s as good as new, and no other', (algorithm) => {
    const policy = `${algorithm},3,10`;
    const { store, decide } = open();
    decide(take(policy, 3), T0);
    decide(take(policy, 3, ['bob', '/']), T0);
    store.reset(countersOf(policy));
    expect(decide(peek(policy, 3), T0)).toMatchObject({
      allowed: true,
      remaining: 3,
      resetAfterMillis: 0,
      moreAfterMillis: 0,
    });
    expect(decide(peek(policy, 1, ['bob', '/']), T0).allowed).toBe(false);
  });

  it('takes several counters, none, and ones that were never used', () => {
    const { store, spend, left } = open();
    spend('fixed-window,3,10 & sliding-window,3,10', T0, 3);
    store.reset([]);
    store.reset(countersOf('fixed-window,9,60', ['nobody']));
    expect(left('fixed-window,3,10', T0)).toBe(0);
    store.reset(countersOf('fixed-window,3,10 & sliding-window,3,10'));
    expect(left('fixed-window,3,10', T0)).toBe(3);
    expect(left('sliding-window,3,10', T0)).toBe(3);
  });
});

describe('blocking', () => {
  const policy = 'fixed-window,3,10';

  it('refuses all until then, says why and for how long, and takes nothing', () => {
    const { store, decide, left } = open();
    store.block(countersOf(policy), T0 + 5000, T0);
    for (const entry of [take(policy), peek(policy), take(policy, 3)]) {
      expect(decide(entry, T0 + 1)).toMatchObject({
        allowed: false,
        reason: 'blocked',
        policy: 'default',
        limit: 3,
        remaining: 3,
        retryAfterMillis: 4999,
      });
    }
    expect(decide(take(policy), T0 + 4999)).toMatchObject({ allowed: false, retryAfterMillis: 1 });
    expect(left(policy, T0 + 5000)).toBe(3);
    expect(decide(take(policy), T0 + 5000)).toMatchObject({ allowed: true, reason: undefined });
  });

  it('lets a cost of 0 pass', () => {
    const { store, decide } = open();
    store.block(countersOf(policy), T0 + 5000, T0);
    expect(decide(take(policy, 0), T0)).toMatchObject({
      allowed: true,
      reason: undefined,
      retryAfterMillis: 0,
    });
  });

  it('is told with the longer of both waits, which is true', () => {
    const { store, decide } = open();
    decide(take(policy, 3), T0);
    store.block(countersOf(policy), T0 + 5000, T0);
    expect(decide(take(policy), T0)).toMatchObject({ reason: 'blocked', retryAfterMillis: 10_000 });
    store.block(countersOf(policy), T0 + 15_000, T0);
    expect(decide(take(policy), T0)).toMatchObject({ reason: 'blocked', retryAfterMillis: 15_000 });
    expect(decide(take(policy), T0 + 14_999)).toMatchObject({ allowed: false });
    expect(decide(take(policy), T0 + 15_000)).toMatchObject({ allowed: true });
  });

  it('never makes fit what never fits', () => {
    const { store, decide } = open();
    store.block(countersOf(policy), T0 + 5000, T0);
    expect(decide(take(policy, 4), T0)).toMatchObject({
      allowed: false,
      reason: 'never',
      retryAfterMillis: Number.POSITIVE_INFINITY,
    });
  });

  it.each([0, T0, T0 - 1])('is ended by %d', (until) => {
    const { store, decide } = open();
    store.block(countersOf(policy), T0 + 5000, T0);
    store.block(countersOf(policy), until, T0);
    expect(decide(take(policy), T0).allowed).toBe(true);
  });

  it('is until what was said last', () => {
    const { store, decide } = open();
    store.block(countersOf(policy), T0 + 5000, T0);
    store.block(countersOf(policy), T0 + 2000, T0);
    expect(decide(take(policy), T0).retryAfterMillis).toBe(2000);
  });

  it('concerns these counters alone, under any limit', () => {
    const { store, decide } = open();
    store.block(countersOf(policy), T0 + 5000, T0);
    expect(decide(take(policy, 1, ['bob', '/']), T0).allowed).toBe(true);
    expect(decide(take('fixed-window,3,11'), T0).allowed).toBe(true);
    expect(decide(take('fixed-window,99,10'), T0)).toMatchObject({ reason: 'blocked', limit: 99 });
  });

  it('of one rule blocks all that are joined with it, and takes from none', () => {
    const { store, decide, left } = open();
    store.block(countersOf('sliding-window,9,10'), T0 + 5000, T0);
    expect(decide(take(`${policy} & sliding-window,9,10`), T0)).toMatchObject({
      allowed: false,
      reason: 'blocked',
      retryAfterMillis: 5000,
    });
    expect(left(policy, T0)).toBe(3);
    expect(left('sliding-window,9,10', T0)).toBe(9);
    expect(decide(take(policy), T0).allowed).toBe(true);
  });

  it('of several counters lasts as long as the longest', () => {
    const { store, decide } = open();
    store.block(countersOf(policy), T0 + 2000, T0);
    store.block(countersOf('sliding-window,9,10'), T0 + 5000, T0);
    const [one, other] = [policy, 'sliding-window,9,10'];
    expect(decide(take(`${one} & ${other}`), T0).retryAfterMillis).toBe(5000);
    expect(decide(take(`${other} & ${one}`), T0).retryAfterMillis).toBe(5000);
  });

  it('concerns one who asks the short way too', () => {
    const { store } = open();
    const [counter] = countersOf(policy, ['alice']);
    store.block([counter!], T0 + 5000, T0);
    const ask = (cost: number) => store.decideKey(counter!.plan, 'alice', cost, 'take', T0);
    expect(ask(1)).toMatchObject({ allowed: false, reason: 'blocked', retryAfterMillis: 5000 });
    expect(ask(0)).toMatchObject({ allowed: true, remaining: 3 });
    expect(store.decideKey(counter!.plan, 'bob', 1, 'take', T0).allowed).toBe(true);
  });

  it('leaves what was counted, and outlasts a reset of it', () => {
    const { store, decide, left } = open();
    decide(take(policy, 2), T0);
    store.block(countersOf(policy), T0 + 500, T0);
    expect(left(policy, T0)).toBe(1);
    store.reset(countersOf(policy));
    expect(decide(take(policy), T0)).toMatchObject({ reason: 'blocked', remaining: 3 });
  });
});

describe('a limit that changes', () => {
  const WINDOWS = ALGORITHMS.filter((algorithm) => algorithm !== 'token-bucket');

  it.each(WINDOWS)('keeps what %s let in when it is raised', (algorithm) => {
    const { decide, left } = open();
    decide(take(`${algorithm},4,12`, 3), T0);
    expect(left(`${algorithm},12,12`, T0)).toBe(9);
    expect(decide(take(`${algorithm},12,12`, 9), T0).allowed).toBe(true);
    expect(decide(take(`${algorithm},12,12`), T0).allowed).toBe(false);
  });

  it.each(['fixed-window', 'sliding-window', 'sliding-window-counter'])(
    'keeps what %s let in when it is lowered',
    (algorithm) => {
      const { decide, left } = open();
      decide(take(`${algorithm},12,12`, 3), T0);
      expect(left(`${algorithm},4,12`, T0)).toBe(1);
      expect(decide(take(`${algorithm},4,12`), T0).allowed).toBe(true);
      expect(decide(take(`${algorithm},4,12`), T0).allowed).toBe(false);
      expect(left(`${algorithm},2,12`, T0)).toBe(0);
    },
  );

  it.each([
    ['token-bucket,4,12', 'token-bucket,12,12', 9000],
    ['token-bucket,4,12', 'token-bucket,12,12,burst=5', 9000],
    ['token-bucket,12,12,burst=4', 'token-bucket,4,12', 3000],
    ['token-bucket,7,10', 'token-bucket,3,10', 4286],
  ])('keeps the moment at which a bucket is full again: %s to %s', (before, after, reset) => {
    const { decide } = open();
    decide(take(before, 3), T0);
    expect(decide(peek(after, 0), T0).resetAfterMillis).toBe(reset);
    expect(decide(peek(after, 0), T0 + reset).remaining).toBe(decide(peek(after, 0), 0).limit);
  });

  it('cuts the moment of a bucket to one filling time when it is over two ahead', () => {
    const { decide } = open();
    decide(take('token-bucket,4,12', 3), T0);
    expect(decide(peek('token-bucket,12,12,burst=4', 0), T0)).toMatchObject({
      remaining: 0,
      resetAfterMillis: 4000,
    });
  });

  it('waits from then on for what was cut, as the hint says', () => {
    const { decide } = open();
    const faster = 'token-bucket,12,12,burst=4';
    decide(take('token-bucket,1,12,burst=4', 4), T0);
    expect(decide(take(faster), T0)).toMatchObject({ allowed: false, retryAfterMillis: 1000 });
    expect(decide(take(faster), T0 + 999).retryAfterMillis).toBe(1);
    expect(decide(take(faster), T0 + 1000).allowed).toBe(true);
  });

  it('keeps the times of a log, whose ring is resized', () => {
    const { decide, left } = open();
    const [small, large, tiny] = [3, 5, 2].map((limit) => `sliding-window,${limit},10`);
    for (const millis of [0, 1000, 2000]) decide(take(small!), T0 + millis);
    decide(take(small!), T0 + 10_000);
    expect(left(large!, T0 + 10_000)).toBe(2);
    decide(take(large!, 2), T0 + 10_500);
    expect(decide(take(large!), T0 + 10_500)).toMatchObject({
      allowed: false,
      retryAfterMillis: 500,
    });
    expect(left(large!, T0 + 11_000)).toBe(1);
    expect(left(large!, T0 + 12_000)).toBe(2);
    expect(decide(peek(tiny!), T0 + 12_000)).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMillis: 8500,
    });
    expect(decide(peek(tiny!, 2), T0 + 12_000).retryAfterMillis).toBe(8500);
    expect(left(tiny!, T0 + 20_500)).toBe(2);
  });

  it('keeps the youngest of a full log that is lowered, since the oldest decide nothing', () => {
    const { decide, left } = open();
    for (let i = 0; i < 8; i++) decide(take('sliding-window,8,10'), T0 + i * 1000);
    const lowered = 'sliding-window,5,10';
    expect(decide(take(lowered), T0 + 8000)).toMatchObject({
      allowed: false,
      retryAfterMillis: 5000,
    });
    expect(left(lowered, T0 + 12_999)).toBe(0);
    expect(decide(take(lowered), T0 + 13_000).allowed).toBe(true);
  });

  it.each([[[3, 5, 3]], [[5, 3, 5]], [[3, 5, 8, 5, 3]], [[8, 3, 8]]])(
    'keeps what a log let in when it goes to and fro: %j',
    (limits) => {
      const { decide, left } = open();
      const policies = limits.map((limit) => `sliding-window,${limit},10`);
      decide(take(policies[0]!, 3), T0);
      const expected = limits.map((limit) => limit - 3);
      expect(policies.map((policy) => left(policy, T0))).toEqual(expected);
      expect(policies.map((policy) => left(policy, T0))).toEqual(expected);
      expect(left(policies[0]!, T0 + 9999)).toBe((limits[0] ?? 0) - 3);
      expect(left(policies[0]!, T0 + 10_000)).toBe(limits[0]);
    },
  );

  it('charges a log under a larger limit than it was kept under without losing a time', () => {
    const { store, spend, left } = open();
    const receipt = spend('sliding-window,5,10', T0);
    store.reset(receipt.entry.counters);
    spend('sliding-window,3,10', T0 + 1000, 3);
    expect(store.settle(receipt, 2, T0 + 2000)).toBe(0);
    expect(left('sliding-window,5,10', T0 + 2000)).toBe(0);
    expect(left('sliding-window,5,10', T0 + 11_000)).toBe(3);
  });

  it('gives nothing away when a take under the old limit of a log is given back', () => {
    const { store, spend, left } = open();
    const receipt = spend('sliding-window,5,10', T0);
    spend('sliding-window,10,10', T0 + 1000, 7);
    expect(left('sliding-window,10,10', T0 + 1000)).toBe(2);
    store.settle(receipt, -1, T0 + 1000);
    expect(left('sliding-window,10,10', T0 + 1000)).toBeLessThanOrEqual(3);
    expect(left('sliding-window,10,10', T0 + 10_000)).toBe(3);
    expect(left('sliding-window,10,10', T0 + 11_000)).toBe(10);
  });
});

describe('a closed store', () => {
  it('has forgotten counters and blocks', () => {
    const { store, decide, left } = open();
    decide(take('fixed-window,3,10', 3), T0);
    store.block(countersOf('sliding-window,3,10'), T0 + 5000, T0);
    store.close();
    expect(left('fixed-window,3,10', T0)).toBe(3);
    expect(decide(take('sliding-window,3,10'), T0).allowed).toBe(true);
  });
});
