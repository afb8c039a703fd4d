import type { Cells, View } from './algorithms/index.js';
import type { Clock } from './clock.js';
import type { CounterPlan } from './counter-plan.js';
import {
  assertCost,
  type Decision,
  decisionOf,
  joinDecisions,
  ruleDecisionOf,
  waitFor,
} from './decision.js';
import { type MaybePromise, type RateLimitStore, SynchronousStore } from './store.js';

/** A limiter for one key, in this process. Made by `LimiterFactory.create`. */
export class Limiter {
  private readonly cells: readonly Cells[];
  private readonly view: View = { remaining: 0, resetAfter: 0, moreAfter: 0 };

  constructor(
    private readonly plans: readonly CounterPlan[],
    private readonly clock: Clock,
  ) {
    this.cells = plans.map(({ algorithm }) => new Float64Array(algorithm.width));
  }

  /**
   * Takes `cost` if it fits.
   *
   * @param cost a whole number, 0 or more
   * @throws RangeError for any other cost
   */
  tryAcquire(cost = 1): Decision {
    return this.decide(cost, true);
  }

  /** What `tryAcquire` would answer; takes nothing. */
  peek(cost = 1): Decision {
    return this.decide(cost, false);
  }

  /** Makes it as good as new. */
  reset(): void {
    for (const cells of this.cells) cells.fill(0);
  }

  private decide(cost: number, take: boolean): Decision {
    assertCost(cost);
    const now = this.clock.nowMillis();
    const waits = this.plans.map((plan, i) => waitFor(plan, this.cells[i]!, 0, now, cost));
    const taking = take && cost > 0 && waits.every((wait) => wait === 0);
    for (const [i, { algorithm }] of taking ? this.plans.entries() : []) {
      algorithm.take(this.cells[i]!, 0, now, cost);
    }
    if (this.plans.length === 1) {
      this.look(0, now);
      return decisionOf(this.plans[0]!, waits[0]!, this.view);
    }
    const rules = this.plans.map((plan, i) => {
      this.look(i, now);
      return ruleDecisionOf(plan, waits[i]!, this.view);
    });
    return joinDecisions(rules);
  }

  private look(i: number, now: number): void {
    this.plans[i]!.algorithm.look(this.cells[i]!, 0, now, this.view);
  }
}

/** A limiter with a counter for each key. Made by `LimiterFactory.createKeyed`. */
export class KeyedLimiter<Answer extends MaybePromise<Decision> = Decision> {
  constructor(
    private readonly plans: readonly CounterPlan[],
    private readonly store: RateLimitStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes `cost` from the key's counter if it fits.
   *
   * @param key any string
   * @param cost a whole number, 0 or more
   * @throws RangeError for any other cost
   */
  tryAcquire(key: string, cost = 1): Answer {
    return this.decide(key, cost, 'take');
  }

  /** What `tryAcquire` would answer; takes nothing. */
  peek(key: string, cost = 1): Answer {
    return this.decide(key, cost, 'peek');
  }

  /** Makes the key's counter as good as new. */
  reset(key: string): MaybePromise<void> {
    return this.store.reset(this.counters(key));
  }

  private decide(key: string, cost: number, mode: 'take' | 'peek'): Answer {
    assertCost(cost);
    const { plans, store } = this;
    if (plans.length === 1 && store instanceof SynchronousStore) {
      const now = this.clock.nowMillis();
      return store.decideKey(plans[0]!, key, cost, mode, now) as Answer;
    }
    const entry = { counters: this.counters(key), cost, mode };
    const outcomes = store.decide([entry], this.clock.nowMillis());
    const decision: MaybePromise<Decision> =
      outcomes instanceof Promise
        ? outcomes.then(([outcome]) => outcome!.decision)
        : outcomes[0]!.decision;
    return decision as Answer;
  }

  private counters(key: string) {
    return this.plans.map((plan) => ({ plan, values: [key] }));
  }
}
