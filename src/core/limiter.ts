import type { Cells, View } from './algorithms/index.js';
import type { Clock } from './clock.js';
import type { CounterPlan } from './counter-plan.js';
import { assertCost, type Decision } from './decision.js';
import { decideTogether } from './joint-decision.js';
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

  /** Whether `tryAcquire` would be allowed, and how the counter stands now; takes nothing. */
  peek(cost = 1): Decision {
    return this.decide(cost, false);
  }

  /** Makes it as good as new. */
  reset(): void {
    for (const cells of this.cells) cells.fill(0);
  }

  private decide(cost: number, take: boolean): Decision {
    assertCost(cost);
    return decideTogether(this.plans, this.cells, this.clock.nowMillis(), cost, take, this.view);
  }
}

/** A limiter with a counter for each key. Made by `LimiterFactory.createKeyed`. */
export class KeyedLimiter<Answer extends MaybePromise<Decision> = Decision> {
  /** The store, where it can take the short way. */
  private readonly single: SynchronousStore | undefined;

  constructor(
    private readonly plans: readonly CounterPlan[],
    private readonly store: RateLimitStore,
    private readonly clock: Clock,
  ) {
    this.single = store instanceof SynchronousStore && plans.length === 1 ? store : undefined;
  }

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

  /** Whether `tryAcquire` would be allowed, and how the counter stands now; takes nothing. */
  peek(key: string, cost = 1): Answer {
    return this.decide(key, cost, 'peek');
  }

  /** Makes the key's counter as good as new. */
  reset(key: string): MaybePromise<void> {
    return this.store.reset(this.counters(key));
  }

  private decide(key: string, cost: number, mode: 'take' | 'peek'): Answer {
    assertCost(cost);
    const { single, store } = this;
    const now = this.clock.nowMillis();
    if (single) return single.decideKey(this.plans[0]!, key, cost, mode, now) as Answer;
    const entry = { counters: this.counters(key), cost, mode };
    const outcomes = store.decide([entry], now);
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
