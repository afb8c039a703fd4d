import fc from 'fast-check';
import { type CounterPlan, planCounters } from '../../src/core/counter-plan.js';
import type { Outcome, StoreEntry } from '../../src/core/index.js';
import { MemoryStore, Policy, RateLimitStore } from '../../src/core/index.js';
import { RateLimitEvents } from '../../src/nest/events.js';
import { Settlements, type Taken } from '../../src/nest/settlements.js';
import { StoreFallback } from '../../src/nest/store-fallback.js';
import { Warnings } from '../../src/nest/warnings.js';
import { FakeClock } from '../../src/testing/index.js';
import { ALGORITHMS, holdsInTime } from './support.js';

const START = 1_700_000_040_000;

/** One thing that reached the store, in the order in which it did. */
interface Deed {
  readonly who: number;
  readonly at: number;
  readonly delta: number;
  readonly allowed: boolean;
}

/** Answers when the scheduler says so: what is asked at once reaches it in any order. */
class ScheduledStore extends RateLimitStore {
  readonly name = 'scheduled';
  readonly inner = new MemoryStore({ maxKeys: 100 });

  constructor(
    private readonly scheduler: fc.Scheduler,
    private readonly clock: FakeClock,
  ) {
    super();
  }

  override async decide(entries: readonly StoreEntry[]): Promise<readonly Outcome[]> {
    await this.scheduler.schedule(Promise.resolve(), 'decide');
    const outcomes = this.inner.decide(entries, this.clock.nowMillis());
    await this.scheduler.schedule(Promise.resolve(), 'answer');
    return outcomes;
  }

  override async settle(...[receipt, delta]: Parameters<RateLimitStore['settle']>) {
    await this.scheduler.schedule(Promise.resolve(), 'settle');
    return this.inner.settle(receipt, delta, this.clock.nowMillis());
  }

  override reset(): void {}
  override block(): void {}
}

/** What becomes of a request: it comes, costs an estimate, and turns out to cost something else. */
interface Request {
  readonly cost: number;
  readonly actual: number;
}

/** Mostly none, so that limits are met. */
const waits = fc.oneof(
  { weight: 20, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constantFrom(1, 250, 900) },
  { weight: 1, arbitrary: fc.constantFrom(1100, 2000, 4000) },
);

const requests = (unit: boolean) =>
  fc.array(
    fc.record({
      cost: unit ? fc.constant(1) : fc.integer({ min: 1, max: 4 }),
      actual: unit ? fc.integer({ min: 0, max: 1 }) : fc.integer({ min: 0, max: 4 }),
    }),
    { minLength: 1, maxLength: 24 },
  );

const planOf = (text: string): CounterPlan =>
  planCounters({ policy: Policy.of(text), place: 'law', label: 'law' })[0]!;

function stage(scheduler: fc.Scheduler, text: string) {
  const clock = new FakeClock(START);
  const plan = planOf(text);
  const store = new ScheduledStore(scheduler, clock);
  const fallback = new StoreFallback(store, clock, new Warnings());
  const settlements = new Settlements(fallback, clock, new RateLimitEvents(), () => undefined);
  const counters = [{ plan, values: ['alice', 'api'] }];
  const asker = { userId: 'alice', address: undefined, api: 'api' };
  const take = async (cost: number): Promise<{ taken: Taken | undefined; outcome: Outcome }> => {
    const outcome = await fallback.decide({ counters, cost, mode: 'take' }, clock.nowMillis());
    const taken = outcome.decision.allowed ? settlements.taken(outcome, asker) : undefined;
    return { taken, outcome };
  };
  const peek = () =>
    store.inner.decide([{ counters, cost: 0, mode: 'peek' }], clock.nowMillis())[0]!.decision;
  return { clock, take, peek, store };
}

describe.each(ALGORITHMS)('what is given back afterwards, of %s', (algorithm) => {
  let admitted = 0;
  let givenBack = 0;

  afterAll(() => {
    expect(admitted).toBeGreaterThan(1000);
    expect(givenBack).toBeGreaterThan(500);
  });

  it('leaves spent what was admitted less what was given back, in every order', async () => {
    const law = fc.asyncProperty(fc.scheduler(), requests(false), async (scheduler, all) => {
      const { take, peek } = stage(scheduler, `${algorithm},9,10`);
      let spent = 0;
      let highest = 0;
      const one = async ({ cost, actual }: Request) => {
        const { taken } = await take(cost);
        if (!taken) return;
        // Never more than was estimated: a charge may be dropped.
        const final = Math.min(cost, actual);
        await taken.settle(final);
        spent += final;
        admitted += cost;
        givenBack += cost - final;
        highest = Math.max(highest, peek().remaining);
      };
      const done = Promise.all(all.map(one));
      await scheduler.waitFor(done);
      expect(peek().remaining).toBe(9 - spent);
      expect(highest).toBeLessThanOrEqual(9);
    });
    await holdsInTime(200, law);
  });

  it('lets in no more than if the refunded had not been, in every order and at any pace', async () => {
    const steps = fc.array(waits, {
      minLength: 40,
      maxLength: 40,
    });
    const law = fc.asyncProperty(
      fc.scheduler(),
      requests(true),
      steps,
      async (scheduler, all, pauses) => {
        const { clock, take, store } = stage(scheduler, `${algorithm},3,2`);
        const deeds: Deed[] = [];
        const decide = store.inner.decide.bind(store.inner);
        let next = 0;
        store.inner.decide = (entries, now) => {
          const outcomes = decide(entries, now);
          const { allowed } = outcomes[0]!.decision;
          deeds.push({ who: next++, at: now, delta: 1, allowed });
          return outcomes.map((outcome) => ({ ...outcome, who: next - 1 }));
        };
        const refunded = new Set<number>();
        const one = async ({ actual }: Request) => {
          const { taken, outcome } = await take(1);
          if (!taken) return;
          admitted++;
          if (actual === 1) return;
          givenBack++;
          refunded.add((outcome as unknown as { who: number }).who);
          await taken.settle(0);
        };
        const done = Promise.all(all.map(one));
        for (let i = 0; scheduler.count() > 0; i++) {
          clock.advance(pauses[i % pauses.length]!);
          await scheduler.waitOne();
          await new Promise(setImmediate); // what follows from it is scheduled by then
        }
        await done;

        const replay = new MemoryStore({ maxKeys: 100 });
        const plan = planOf(`${algorithm},3,2`);
        const entry = { counters: [{ plan, values: ['a', 'b'] }], cost: 1, mode: 'take' } as const;
        let [ours, theirs] = [0, 0];
        for (const { who, at, allowed } of deeds) {
          if (refunded.has(who)) continue;
          if (allowed) ours++;
          if (replay.decide([entry], at)[0]!.decision.allowed) theirs++;
          expect(ours).toBeLessThanOrEqual(theirs);
        }
      },
    );
    await holdsInTime(200, law);
  });
});
