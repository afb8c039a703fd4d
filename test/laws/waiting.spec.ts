import fc from 'fast-check';
import type { KeyedLimiter } from '../../src/core/limiter.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { MemoryStore } from '../../src/stores/memory/memory.store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { LaterStore, turn } from '../core/waiting.js';
import { capacityOf, type RuleNumbers } from '../model/model.js';
import { ALGORITHMS, holdsInTime, textOf } from './support.js';

jest.setTimeout(120_000);

const START = 1_000_000;

const smallRule: fc.Arbitrary<RuleNumbers> = fc.record({
  algorithm: fc.constantFrom(...ALGORITHMS),
  limit: fc.integer({ min: 1, max: 6 }),
  windowMillis: fc.integer({ min: 1, max: 20 }),
});

/** At most in any one window, as the README tells. */
function boundOf(rule: RuleNumbers): number {
  return rule.algorithm === 'sliding-window' ? rule.limit : 2 * capacityOf(rule);
}

interface Job {
  readonly cost: number;
  readonly timeoutMillis: number;
  /** Gives up when the scheduler says so. */
  readonly givesUp: boolean;
}

const job: fc.Arbitrary<Job> = fc.record({
  cost: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 7 })),
  timeoutMillis: fc.oneof(
    fc.integer({ min: 0, max: 60 }),
    fc.constant(Number.POSITIVE_INFINITY),
    fc.constant(10_000),
  ),
  givesUp: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
});

interface Take {
  readonly askedAt: number;
  readonly decidedAt: number;
  readonly cost: number;
}

/** Decides when the scheduler lets it, at the moment of that; keeps what was taken. */
class ScheduledStore extends LaterStore {
  readonly takes: Take[] = [];

  constructor(
    inner: MemoryStore,
    private readonly scheduler: fc.Scheduler,
    private readonly clock: FakeClock,
  ) {
    super(inner);
  }

  override async decide(...[entries, askedAt]: Parameters<LaterStore['decide']>) {
    await this.scheduler.schedule(Promise.resolve(), 'decide');
    const decidedAt = this.clock.nowMillis();
    const outcomes = this.inner.decide(entries, decidedAt);
    await this.scheduler.schedule(Promise.resolve(), 'answer');
    for (const { entry, decision } of outcomes) {
      const { cost, mode } = entry;
      if (mode === 'take' && decision.allowed) this.takes.push({ askedAt, decidedAt, cost });
    }
    return outcomes;
  }
}

interface Ending {
  readonly index: number;
  readonly allowed: boolean;
  readonly gaveUp: boolean;
  readonly at: number;
}

interface Run {
  readonly takes: readonly Take[];
  readonly endings: readonly Ending[];
  readonly arrivals: ReadonlyMap<number, number>;
}

/** Lets jobs come, give up and time pass in the order of the scheduler. */
async function play(
  rule: RuleNumbers,
  jobs: readonly Job[],
  steps: readonly number[],
  s: fc.Scheduler,
): Promise<Run> {
  const clock = new FakeClock(START);
  const store = new ScheduledStore(new MemoryStore({ maxKeys: 100 }), s, clock);
  const factory = new LimiterFactory(clock);
  const limiter = factory.createKeyed(textOf([rule]), { store });
  const endings: Ending[] = [];
  const arrivals = new Map<number, number>();
  for (const [index, { givesUp, ...options }] of jobs.entries()) {
    const patience = new AbortController();
    void s.schedule(Promise.resolve(), `job ${index}`).then(() => {
      arrivals.set(index, clock.nowMillis());
      const end = (allowed: boolean, gaveUp: boolean) =>
        endings.push({ index, allowed, gaveUp, at: clock.nowMillis() });
      void limiter.acquire('alice', { ...options, signal: patience.signal }).then(
        ({ allowed }) => end(allowed, false),
        (reason) => end(false, reason === 'enough'),
      );
      if (givesUp) {
        void s.schedule(Promise.resolve(), `${index} gives up`).then(() => {
          patience.abort('enough');
        });
      }
    });
  }
  await drain(s, clock, steps, () => endings.length === jobs.length);
  return { takes: store.takes, endings, arrivals };
}

async function drain(
  s: fc.Scheduler,
  clock: FakeClock,
  steps: readonly number[],
  done: () => boolean,
): Promise<void> {
  for (let i = 0; i < 5000 && !(done() && s.count() === 0); i++) {
    clock.advance(steps[i] ?? (s.count() === 0 ? 1 : 0));
    await turn();
    if (s.count() > 0) await s.waitOne();
    await turn();
  }
}

describe('over every order in which a store answers', () => {
  const runs = fc.tuple(
    smallRule,
    fc.array(job, { minLength: 1, maxLength: 9 }),
    fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 40 }),
    fc.scheduler(),
  );
  const always = (check: (run: Run, rule: RuleNumbers, jobs: readonly Job[]) => void) =>
    fc.asyncProperty(runs, async ([rule, jobs, steps, s]) => {
      check(await play(rule, jobs, steps, s), rule, jobs);
    });

  it('everybody is told what became of it, and takes nothing unless let in', async () => {
    await holdsInTime(
      300,
      always(({ takes, endings }, _rule, jobs) => {
        expect(endings).toHaveLength(jobs.length);
        const admitted = endings.filter(({ allowed }) => allowed);
        const costs = (list: readonly { cost: number }[]) => list.map(({ cost }) => cost).sort();
        expect(costs(takes)).toEqual(costs(admitted.map(({ index }) => jobs[index]!)));
        for (const { index, gaveUp } of endings)
          if (gaveUp) expect(jobs[index]!.givesUp).toBe(true);
      }),
    );
  });

  it('nobody is let in who came after one that waits', async () => {
    await holdsInTime(
      300,
      always(({ endings, arrivals }, _rule, jobs) => {
        const order = [...arrivals.keys()];
        const admitted = endings
          .filter(({ allowed, index }) => allowed && jobs[index]!.cost > 0)
          .map(({ index }) => order.indexOf(index));
        expect(admitted).toEqual([...admitted].sort((a, b) => a - b));
      }),
    );
  });

  it('no window admits more than its algorithm does', async () => {
    await holdsInTime(
      300,
      always(({ takes }, rule) => {
        for (const { decidedAt } of takes) {
          const inWindow = takes.filter(
            (take) => take.decidedAt <= decidedAt && take.decidedAt > decidedAt - rule.windowMillis,
          );
          const sum = inWindow.reduce((total, { cost }) => total + cost, 0);
          expect(sum).toBeLessThanOrEqual(boundOf(rule));
        }
      }),
    );
  });

  it('nobody is asked to take after its time', async () => {
    await holdsInTime(
      300,
      always(({ takes, endings, arrivals }, _rule, jobs) => {
        const admitted = endings.filter(({ allowed, index }) => allowed && jobs[index]!.cost > 0);
        const spent = takes.filter(({ cost }) => cost > 0);
        admitted.forEach(({ index }, i) => {
          const until = arrivals.get(index)! + jobs[index]!.timeoutMillis;
          expect(spent[i]!.cost).toBe(jobs[index]!.cost);
          expect(spent[i]!.askedAt).toBeLessThanOrEqual(until);
        });
      }),
    );
  });
});

describe('who is refused at once', () => {
  const crowd = fc.tuple(
    smallRule,
    fc.array(fc.tuple(fc.nat(25), fc.integer({ min: 0, max: 6 })), { maxLength: 5 }),
    fc.array(
      fc.tuple(fc.integer({ min: 1, max: 6 }), fc.nat(70)).map(([cost, timeoutMillis]) => ({
        cost,
        timeoutMillis,
      })),
      { minLength: 1, maxLength: 7 },
    ),
  );

  /** A limiter some of which was used already. */
  const used = (rule: RuleNumbers, before: readonly (readonly [number, number])[]) => {
    const clock = new FakeClock(START);
    const factory = new LimiterFactory(clock, new MemoryStore({ maxKeys: 100 }));
    const limiter = factory.createKeyed(textOf([rule]));
    for (const [wait, cost] of before) {
      clock.advance(wait);
      limiter.tryAcquire('alice', cost);
    }
    return { clock, limiter };
  };

  /** When the last of these would be let in, if all stayed as long as it takes. */
  const turnOf = (limiter: KeyedLimiter, clock: FakeClock, costs: readonly number[]): number => {
    const start = clock.nowMillis();
    for (const cost of costs) {
      if (limiter.peek('alice', cost).reason === 'never') return Number.POSITIVE_INFINITY;
      while (!limiter.tryAcquire('alice', cost).allowed) clock.advance(1);
    }
    return clock.nowMillis() - start;
  };

  it('could not have come in time behind those that stayed', async () => {
    await holdsInTime(
      1000,
      fc.asyncProperty(crowd, async ([rule, before, jobs]) => {
        const { clock, limiter } = used(rule, before);
        const state = jobs.map(() => 'waits');
        for (const [i, options] of jobs.entries()) {
          void limiter.acquire('alice', options).then(({ allowed }) => {
            state[i] = allowed ? 'in' : 'out';
          });
        }
        await turn();
        const others = state.map((one) => one !== 'out');
        for (let i = 0; i < jobs.length; i++) {
          if (state[i] !== 'out') continue;
          const ahead = jobs.filter((_, j) => j < i && others[j]);
          const again = used(rule, before);
          const costs = [...ahead, jobs[i]!].map(({ cost }) => cost);
          expect(turnOf(again.limiter, again.clock, costs)).toBeGreaterThan(jobs[i]!.timeoutMillis);
        }
        for (let i = 0; i < 200; i++) {
          clock.advance(1);
          await turn();
        }
        expect(state).not.toContain('waits');
      }),
    );
  });
});
