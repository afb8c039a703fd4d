import { type Counter, planCounters } from '../../src/core/counter-plan.js';
import type { Decision } from '../../src/core/decision.js';
import { DegradedLimiter, storeErrorPolicyOf } from '../../src/core/degraded-limiter.js';
import { Policy } from '../../src/core/policy.js';
import type { StoreEntry } from '../../src/core/store.js';
import { MemoryStore } from '../../src/stores/memory/memory.store.js';
import { ALGORITHMS } from '../laws/support.js';

const T0 = 1_700_000_040_000; // the begin of a minute
const RETRY = 700;

/** Read once each, as an application does: a policy has the same plans all its life. */
const policies = new Map<string, Policy>();

const entryOf = (text: string, parts: Partial<StoreEntry> & { values?: string[] } = {}) => {
  const { values = ['alice', '/'], ...rest } = parts;
  const policy = policies.get(text) ?? Policy.of(text);
  policies.set(text, policy);
  const plans = planCounters({ policy, place: 'default', label: 'default' });
  const counters: Counter[] = plans.map((plan) => ({ plan, values }));
  return { counters, cost: 1, mode: 'take', ...rest } satisfies StoreEntry;
};

/** A limiter of one of so many instances. */
function create(instances = 1) {
  const store = new MemoryStore({ maxKeys: 1000 });
  const parts = { instances };
  const limiter = new DegradedLimiter(store, () => parts.instances);
  const decide = (policy: string, more: Partial<StoreEntry> = {}, now = T0): Decision =>
    limiter.decide(entryOf(policy, more), now, RETRY);
  /** How many of cost 1 get in at that moment. */
  const admitted = (policy: string, now = T0): number => {
    let count = 0;
    while (count < 1000 && decide(policy, {}, now).allowed) count++;
    return count;
  };
  return { limiter, store, parts, decide, admitted };
}

describe('what a rule does while its store is away', () => {
  it.each([
    ['fixed-window,5,10', 'allow'],
    ['fixed-window,5,10,count=successes', 'allow'],
    ['fixed-window,5,10,count=failures', 'local'],
    ['fixed-window,5,10,onStoreError=deny', 'deny'],
    ['fixed-window,5,10,onStoreError=local', 'local'],
    ['fixed-window,5,10,count=failures,onStoreError=allow', 'allow'],
    ['fixed-window,5,10,count=failures,onStoreError=deny', 'deny'],
  ])('of %s is to %s', (rule, expected) => {
    expect(storeErrorPolicyOf(Policy.of(rule).rules[0]!)).toBe(expected);
  });
});

describe('a rule that allows', () => {
  it('lets in without counting, and tells the numbers of a fresh counter', () => {
    const { decide, admitted } = create();
    expect(decide('token-bucket,5,10,burst=8')).toEqual({
      allowed: true,
      reason: undefined,
      policy: 'default',
      limit: 8,
      windowMillis: 16_000,
      remaining: 8,
      retryAfterMillis: 0,
      resetAfterMillis: 0,
      moreAfterMillis: 0,
      rules: undefined,
      degraded: true,
    });
    expect(admitted('token-bucket,5,10,burst=8')).toBe(1000);
  });

  it('refuses for ever what costs more than it ever lets in', () => {
    const { decide } = create();
    expect(decide('fixed-window,5,10', { cost: 5 })).toMatchObject({ allowed: true });
    expect(decide('fixed-window,5,10', { cost: 6 })).toMatchObject({
      allowed: false,
      reason: 'never',
      retryAfterMillis: Number.POSITIVE_INFINITY,
      degraded: true,
    });
  });
});

describe('a rule that denies', () => {
  it('refuses for want of the store, until it is worth asking again', () => {
    const { decide } = create();
    expect(decide('fixed-window,5,10,onStoreError=deny')).toEqual({
      allowed: false,
      reason: 'store',
      policy: 'default',
      limit: 5,
      windowMillis: 10_000,
      remaining: 0,
      retryAfterMillis: RETRY,
      resetAfterMillis: RETRY,
      moreAfterMillis: RETRY,
      rules: undefined,
      degraded: true,
    });
  });

  it.each([
    [0, 1],
    [-5, 1],
    [0.2, 1],
    [1.5, 2],
    [1000, 1000],
  ])('told %d ms, says %d', (handedIn, said) => {
    const decision = create().limiter.decide(
      entryOf('fixed-window,5,10,onStoreError=deny'),
      T0,
      handedIn,
    );
    expect(decision.retryAfterMillis).toBe(said);
  });

  it('allows a cost of 0, and refuses for ever what never fits', () => {
    const { decide } = create();
    const policy = 'fixed-window,5,10,onStoreError=deny';
    expect(decide(policy, { cost: 0 })).toMatchObject({ allowed: true, retryAfterMillis: 0 });
    expect(decide(policy, { cost: 6 })).toMatchObject({ allowed: false, reason: 'never' });
  });
});

describe('a rule that counts here', () => {
  it.each(ALGORITHMS)('lets in the share of an instance, by %s', (algorithm) => {
    const policy = `${algorithm},10,1m,onStoreError=local`;
    expect(create(1).admitted(policy)).toBe(10);
    expect(create(3).admitted(policy)).toBe(3);
    expect(create(10).admitted(policy)).toBe(1);
    expect(create(1000).admitted(policy)).toBe(1);
  });

  it('earns the share of the limit, and holds the share of the burst', () => {
    const { decide, admitted } = create(4);
    const policy = 'token-bucket,20,10,burst=42,onStoreError=local'; // the share: 5 per 10 s, 10
    expect(admitted(policy)).toBe(10);
    expect(decide(policy)).toMatchObject({
      allowed: false,
      reason: 'quota',
      limit: 10,
      windowMillis: 20_000,
      remaining: 0,
      retryAfterMillis: 2000,
      degraded: true,
    });
    expect(admitted(policy, T0 + 1999)).toBe(0);
    expect(admitted(policy, T0 + 2000)).toBe(1);
  });

  it('tells what is left of the share', () => {
    const { decide } = create(2);
    const policy = 'fixed-window,10,1m,onStoreError=local';
    expect(decide(policy)).toMatchObject({ allowed: true, limit: 5, remaining: 4 });
    expect(decide(policy, { mode: 'peek' })).toMatchObject({ allowed: true, remaining: 4 });
    expect(decide(policy, { mode: 'peek' })).toMatchObject({ remaining: 4, degraded: true });
  });

  it('refuses for want of the store what is more than a share, which waiting would not help', () => {
    const { decide } = create(2);
    const policy = 'fixed-window,10,1m,onStoreError=local';
    expect(decide(policy, { cost: 6 })).toMatchObject({
      allowed: false,
      reason: 'store',
      retryAfterMillis: RETRY,
      limit: 5,
      remaining: 5,
    });
    expect(decide(policy, { cost: 11 })).toMatchObject({ reason: 'never' });
    expect(decide(policy, { cost: 5 })).toMatchObject({ allowed: true, remaining: 0 });
  });

  it.each(ALGORITHMS)('keeps what was counted when the instances change, by %s', (algorithm) => {
    const { parts, admitted } = create(2);
    const policy = `${algorithm},12,1m,onStoreError=local`;
    expect(admitted(policy)).toBe(6);
    parts.instances = 3;
    expect(admitted(policy)).toBe(0); // the share is 4, of which 6 are taken
    parts.instances = 1;
    // Windows keep how many, a bucket the moment at which it is full.
    expect(admitted(policy)).toBe(algorithm === 'token-bucket' ? 0 : 6);
    parts.instances = 2;
    expect(admitted(policy)).toBe(0);
  });

  it('counts each user for himself', () => {
    const { limiter } = create(5);
    const ask = (user: string) => {
      const entry = entryOf('fixed-window,5,1m,onStoreError=local', { values: [user, '/'] });
      return limiter.decide(entry, T0, RETRY).allowed;
    };
    expect([ask('alice'), ask('alice'), ask('bob'), ask('bob')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('leaves the plan to the store that shares it', () => {
    const entry = entryOf('fixed-window,5,1m,onStoreError=local');
    const note = entry.counters[0]!.plan.note;
    note.owner = 'the store';
    create(5).limiter.decide(entry, T0, RETRY);
    expect(note).toEqual({ owner: 'the store', content: undefined });
  });

  it('counts a bucket exactly whose share has no divisor in common with the window', () => {
    const whole = 10 ** 9; // one per millisecond; a third of it is odd
    const policy = `token-bucket,${whole},${whole}ms,onStoreError=local`;
    const { decide } = create(3);
    const share = Math.floor(whole / 3);
    expect(decide(policy, { cost: share })).toMatchObject({
      allowed: true,
      limit: share,
      remaining: 0,
    });
    // The whole limit in three windows: one in 3 ms.
    expect(decide(policy, { cost: 1000 })).toMatchObject({ retryAfterMillis: 3000 });
    expect(decide(policy, { cost: 1000 }, T0 + 2999)).toMatchObject({ allowed: false });
    expect(decide(policy, { cost: 1000 }, T0 + 3000)).toMatchObject({ allowed: true });
  });
});

describe('several rules', () => {
  const LOCAL = 'fixed-window,10,1m,name=local,onStoreError=local';
  const LOCAL_DAY = 'fixed-window,4,1d,name=day,onStoreError=local';
  const DENY = 'fixed-window,5,10,name=deny,onStoreError=deny';
  const ALLOW = 'fixed-window,2,10,name=allow';

  it('all that count here spend, or none', () => {
    const { decide } = create(2);
    const both = `${LOCAL} & ${LOCAL_DAY}`;
    expect(decide(both)).toMatchObject({ allowed: true, policy: 'day', remaining: 1 });
    expect(decide(both)).toMatchObject({ allowed: true, remaining: 0 });
    expect(decide(both)).toMatchObject({ allowed: false, reason: 'quota', policy: 'day' });
    expect(decide(LOCAL, { mode: 'peek' }).remaining).toBe(3);
  });

  it('are refused when one denies, and then the others spend nothing', () => {
    const { decide } = create();
    const decision = decide(`${LOCAL} & ${DENY} & ${ALLOW}`);
    expect(decision).toMatchObject({
      allowed: false,
      reason: 'store',
      policy: 'deny',
      limit: 5,
      windowMillis: 10_000,
      retryAfterMillis: RETRY,
      remaining: 0,
      degraded: true,
    });
    expect(decision.rules).toMatchObject([
      { name: 'local', allowed: true, remaining: 10, retryAfterMillis: 0 },
      { name: 'deny', allowed: false, remaining: 0, retryAfterMillis: RETRY },
      { name: 'allow', allowed: true, remaining: 2, retryAfterMillis: 0 },
    ]);
    expect(decide(LOCAL, { mode: 'peek' }).remaining).toBe(10);
  });

  it('come back when the store may, however long a share would make wait', () => {
    const { decide, admitted } = create();
    expect(admitted(LOCAL_DAY)).toBe(4);
    expect(decide(`${LOCAL_DAY} & ${DENY}`)).toMatchObject({
      reason: 'store',
      policy: 'deny',
      retryAfterMillis: RETRY,
    });
  });

  it('are refused by a share that is used up, whatever those say that allow', () => {
    const { decide, admitted } = create(10);
    expect(admitted(LOCAL)).toBe(1);
    const decision = decide(`${ALLOW} & ${LOCAL}`);
    expect(decision).toMatchObject({
      allowed: false,
      reason: 'quota',
      policy: 'local',
      limit: 1,
      remaining: 0,
      retryAfterMillis: 60_000,
    });
    expect(decision.rules?.map(({ name, allowed }) => [name, allowed])).toEqual([
      ['allow', true],
      ['local', false],
    ]);
  });

  it('spend nothing when one of them could never let in', () => {
    const { decide } = create();
    const decision = decide(`${LOCAL} & ${ALLOW} & ${DENY}`, { cost: 3 });
    expect(decision).toMatchObject({
      allowed: false,
      reason: 'never',
      policy: 'allow',
      retryAfterMillis: Number.POSITIVE_INFINITY,
    });
    expect(decide(LOCAL, { mode: 'peek' }).remaining).toBe(10);
  });

  it('spend nothing when the cost is more than one of the shares', () => {
    const { decide } = create(2);
    expect(decide(`${LOCAL} & ${LOCAL_DAY}`, { cost: 3 })).toMatchObject({
      reason: 'store',
      policy: 'day',
      retryAfterMillis: RETRY,
    });
    expect(decide(LOCAL, { mode: 'peek' }).remaining).toBe(5);
  });
});

describe('settling', () => {
  const policy = 'fixed-window,10,1m,onStoreError=local';
  const entry = entryOf(policy, { cost: 4 });

  it('gives back what was taken here', () => {
    const { limiter, decide } = create(2);
    limiter.decide(entry, T0, RETRY);
    expect(decide(policy, { mode: 'peek' }).remaining).toBe(1);
    expect(limiter.settle({ entry, takenAtMillis: T0 }, -3, T0 + 10)).toBe(0);
    expect(decide(policy, { mode: 'peek' }, T0 + 10).remaining).toBe(4);
  });

  it('charges more, up to the share, and says what was dropped', () => {
    const { limiter, decide } = create(2);
    limiter.decide(entry, T0, RETRY);
    expect(limiter.settle({ entry, takenAtMillis: T0 }, 3, T0)).toBe(2);
    expect(decide(policy, { mode: 'peek' }).remaining).toBe(0);
  });

  it('touches the rules that count here only', () => {
    const { limiter, store } = create();
    const others = entryOf('fixed-window,10,1m & fixed-window,5,1d,onStoreError=deny');
    expect(limiter.settle({ entry: others, takenAtMillis: T0 }, 3, T0)).toBe(0);
    expect(store.slotsInUse(T0)).toBe(0);
  });
});
