import fc from 'fast-check';
import { type CounterPlan, planCounters } from '../../src/core/counter-plan.js';
import { type Decision, MemoryStore, Policy, type RateLimitStore } from '../../src/core/index.js';
import { RedisStore } from '../../src/stores/redis/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Algorithm } from '../model/model.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { ALGORITHMS, holdsInTime } from './support.js';

/*
 * While rules are reloaded that differ in their limits alone, no more is let in than the largest of
 * the limits would have let in: what was taken stays taken, whatever limit it is read under.
 *
 * For the windows more than that is held: a request fits exactly where what was let in before
 * leaves room for it under the limit of that moment. A bucket keeps when it is full again, and of
 * that is held what follows: with F the longest filling time, a token of a rule being window/limit
 * of it, all that is let in within t takes no more than F + t. With limits alone that change every
 * filling time is the window, and so no more than limit × (1 + t/window) by the largest limit.
 *
 * With bursts a filling time may become less than half of what it was; then a moment that is more
 * than two of them ahead is cut to one, and what was cut is let in once more.
 */

const START = 1_767_225_600_000;

interface Step {
  readonly wait: number;
  readonly cost: number;
  /** Which of the rules is in force from now on; undefined: the one that was. */
  readonly reload: number | undefined;
}

/** Rules of one algorithm and window. */
interface Script {
  readonly windowMillis: number;
  readonly limits: readonly number[];
  readonly steps: readonly Step[];
}

interface Admitted {
  readonly at: number;
  readonly cost: number;
  readonly limit: number;
}

const windows = fc.constantFrom(7, 60, 1000, 10_000);

const script: fc.Arbitrary<Script> = windows.chain((windowMillis) =>
  fc.record({
    windowMillis: fc.constant(windowMillis),
    limits: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 4 }),
    steps: fc.array(
      fc.record({
        wait: fc.oneof(
          { weight: 4, arbitrary: fc.constant(0) },
          { weight: 2, arbitrary: fc.integer({ min: 1, max: Math.ceil(windowMillis / 4) }) },
          { weight: 1, arbitrary: fc.constantFrom(windowMillis - 1, windowMillis) },
        ),
        cost: fc.constantFrom(1, 1, 1, 2, 3, 7),
        reload: fc.option(fc.nat(3), { nil: undefined, freq: 3 }),
      }),
      { minLength: 20, maxLength: 60 },
    ),
  }),
);

function planOf(rule: string): CounterPlan {
  return planCounters({ policy: Policy.of(rule), place: 'law', label: 'law' })[0]!;
}

interface Played {
  readonly admitted: readonly Admitted[];
  /** How often the rules were changed before each that was let in. */
  readonly reloads: readonly number[];
}

/** Plays a script; `seen` looks at each answer with what was let in before it. */
async function played(
  store: RateLimitStore,
  clock: FakeClock,
  who: string,
  { steps }: Pick<Script, 'steps'>,
  plans: readonly CounterPlan[],
  seen: (decision: Decision, now: number, cost: number, before: readonly Admitted[]) => void,
): Promise<Played> {
  const admitted: Admitted[] = [];
  const reloads: number[] = [];
  let changed = 0;
  let plan = plans[0]!;
  for (const { wait, cost, reload } of steps) {
    clock.advance(wait);
    if (reload !== undefined) {
      plan = plans[reload % plans.length]!;
      changed++;
    }
    const now = clock.nowMillis();
    const entry = { counters: [{ plan, values: [who, 'api'] }], cost, mode: 'take' as const };
    const { decision } = (await store.decide([entry], now))[0]!;
    seen(decision, now, cost, admitted);
    if (!decision.allowed) continue;
    admitted.push({ at: now, cost, limit: plan.rule.limit });
    reloads.push(changed);
  }
  return { admitted, reloads };
}

// ── what fits, by hand ────────────────────────────────────────────────────────────────────────────

const total = (some: readonly Admitted[]) => some.reduce((sum, { cost }) => sum + cost, 0);
const inBox = (some: readonly Admitted[], box: number, window: number) =>
  total(some.filter(({ at }) => Math.floor(at / window) === box));

/** Whether `cost` fits under a limit, by what was let in before. */
const FITS: Record<
  Exclude<Algorithm, 'token-bucket'>,
  (before: readonly Admitted[], now: number, cost: number, limit: number, window: number) => boolean
> = {
  'fixed-window': (before, now, cost, limit, window) =>
    inBox(before, Math.floor(now / window), window) + cost <= limit,
  'sliding-window': (before, now, cost, limit, window) =>
    total(before.filter(({ at }) => at + window > now)) + cost <= limit,
  'sliding-window-counter': (before, now, cost, limit, window) => {
    const box = Math.floor(now / window);
    const left = (box + 1) * window - now;
    const used = inBox(before, box - 1, window) * left + inBox(before, box, window) * window;
    return used + cost * window <= limit * window;
  },
};

/** The most that is let in by any stretch of time that ends with a request, less what may be. */
function excess({ admitted, reloads }: Played, filling: number, window: number): number {
  let worst = Number.NEGATIVE_INFINITY;
  for (const [last, { at: end }] of admitted.entries()) {
    let taken = 0;
    for (let first = last; first >= 0; first--) {
      const { at, cost, limit } = admitted[first]!;
      taken += (cost * window) / limit;
      // Read under another limit the moment is off by a unit at most, which is a ms at most.
      const off = reloads[last]! - reloads[first]!;
      worst = Math.max(worst, taken - filling - (end - at) - off);
    }
  }
  return worst;
}

// ── the laws ──────────────────────────────────────────────────────────────────────────────────────

type Open = () => Promise<{ readonly store: RateLimitStore; readonly clock: FakeClock }>;

function laws(runs: number, open: Open): void {
  let runsSoFar = 0;
  let letIn = 0;
  let refused = 0;
  const nobodyYet = () => `alice ${++runsSoFar}`;
  const note = ({ allowed }: Decision) => {
    if (allowed) letIn++;
    else refused++;
  };
  afterEach(() => {
    expect(letIn).toBeGreaterThan(runs * 5);
    expect(refused).toBeGreaterThan(runs * 3);
    [letIn, refused] = [0, 0];
  });

  it.each(ALGORITHMS.filter((one) => one !== 'token-bucket'))(
    'of %s let in exactly what the limit of the moment has room for',
    async (algorithm) => {
      const law = fc.asyncProperty(script, async (one) => {
        const { store, clock } = await open();
        const { windowMillis: window } = one;
        const plans = one.limits.map((limit) => planOf(`${algorithm},${limit},${window}ms`));
        const largest = Math.max(...one.limits);
        const { admitted } = await played(store, clock, nobodyYet(), one, plans, (...args) => {
          const [decision, now, cost, before] = args;
          note(decision);
          const fits = FITS[algorithm](before, now, cost, decision.limit, window);
          expect([now - START, cost, decision.allowed]).toEqual([now - START, cost, fits]);
        });
        for (const { at } of admitted) {
          const box = inBox(admitted, Math.floor(at / window), window);
          const since = total(admitted.filter((other) => other.at > at - window && other.at <= at));
          if (algorithm === 'sliding-window') expect(since).toBeLessThanOrEqual(largest);
          else expect(box).toBeLessThanOrEqual(largest);
          expect(since).toBeLessThanOrEqual(2 * largest);
        }
      });
      await holdsInTime(runs, law);
    },
  );

  it('of a token bucket let in no more in any time than the largest limit earns in it', async () => {
    const law = fc.asyncProperty(script, async (one) => {
      const { store, clock } = await open();
      const { windowMillis: window } = one;
      const plans = one.limits.map((limit) => planOf(`token-bucket,${limit},${window}ms`));
      const all = await played(store, clock, nobodyYet(), one, plans, note);
      expect(excess(all, window, window)).toBeLessThanOrEqual(1e-6);
      // And so, in requests: what fits in a window of the largest limit, and its time.
      const largest = Math.max(...one.limits);
      for (const { at } of all.admitted) {
        const since = total(all.admitted.filter((two) => two.at > at - window && two.at <= at));
        expect(since).toBeLessThanOrEqual(2 * largest);
      }
    });
    await holdsInTime(runs, law);
  });

  it('of a token bucket with bursts let in no more than its longest filling time', async () => {
    // Of filling times that are twice as long at the most: beyond that a moment is cut.
    const bursts = fc.array(fc.integer({ min: 6, max: 12 }), { minLength: 2, maxLength: 4 });
    const law = fc.asyncProperty(script, bursts, async (one, capacities) => {
      const { store, clock } = await open();
      const { windowMillis: window } = one;
      const limit = one.limits[0]!;
      const plans = capacities.map((burst) =>
        planOf(`token-bucket,${limit},${window}ms,burst=${burst}`),
      );
      const all = await played(store, clock, nobodyYet(), one, plans, note);
      const longest = (Math.max(...capacities) * window) / limit;
      expect(excess(all, longest, window)).toBeLessThanOrEqual(1e-6);
    });
    await holdsInTime(runs, law);
  });

  it('fill a token bucket again in one filling time, whatever was in force before', async () => {
    const law = fc.asyncProperty(script, async (one) => {
      const { store, clock } = await open();
      const { windowMillis: window } = one;
      const plans = one.limits.map((limit) => planOf(`token-bucket,${limit},${window}ms`));
      const who = nobodyYet();
      await played(store, clock, who, one, plans, note);
      const last = plans.at(-1)!;
      const steps = [{ wait: window, cost: last.rule.limit, reload: 0 }];
      await played(store, clock, who, { steps }, [last], (decision) => {
        expect(decision).toMatchObject({ allowed: true, remaining: 0 });
      });
    });
    await holdsInTime(runs, law);
  });
}

describe('limits in memory that are reloaded, in any order', () => {
  laws(300, async () => ({
    store: new MemoryStore({ maxKeys: 1000 }),
    clock: new FakeClock(START),
  }));
});

describe('a bucket whose filling time becomes less than half of what it lacks', () => {
  it('is full again after one filling time, and what was cut is forgotten for good', () => {
    const store = new MemoryStore({ maxKeys: 1000 });
    const take = (rule: string, cost: number, now: number) =>
      store.decide(
        [{ counters: [{ plan: planOf(rule), values: ['a', 'b'] }], cost, mode: 'take' }],
        now,
      )[0]!.decision;
    const [wide, narrow] = ['token-bucket,10,10,burst=100', 'token-bucket,10,10'];
    expect(take(wide, 100, START).remaining).toBe(0);
    // Uncut, it would refuse for 91 s.
    expect(take(narrow, 1, START)).toMatchObject({ allowed: false, retryAfterMillis: 1000 });
    // The one case in which a reload lets in more than the larger limit: there and back again.
    expect(take(wide, 91, START)).toMatchObject({ allowed: false, remaining: 90 });
    expect(take(wide, 90, START)).toMatchObject({ allowed: true, remaining: 0 });
  });
});

describeWithRedis('limits in Redis that are reloaded, in any order', () => {
  let server: RedisServer;
  let store: RedisStore;
  const clock = new FakeClock(START);

  beforeAll(async () => {
    server = await RedisServer.start();
    const target = { url: `redis://127.0.0.1:${server.port}` };
    store = new RedisStore(target, { prefix: 'law', time: 'clock', timeoutMillis: 5000 });
    await until('the store is connected', () => store.connected);
  });

  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  // Of one server: each run has a key of its own, and time goes on.
  laws(15, async () => ({ store, clock }));
});
