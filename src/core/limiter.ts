import type { Clock } from './clock.js';
import type { CounterPlan } from './counter-plan.js';
import { assertCost, type CounterState, type Decision, decideAll } from './decision.js';
import type { MaybePromise, RateLimitStore } from './store.js';

/** A limiter for one key, in this process. Made by `LimiterFactory.create`. */
export class Limiter {
  private readonly states: readonly CounterState[];

  constructor(
    plans: readonly CounterPlan[],
    private readonly clock: Clock,
  ) {
    this.states = plans.map((plan) => ({
      plan,
      cells: new Float64Array(plan.algorithm.width),
      at: 0,
    }));
  }

  /**
   * Takes `cost` if it fits.
   *
   * @param cost a whole number, 0 or more
   * @throws RangeError for any other cost
   */
  tryAcquire(cost = 1): Decision {
    assertCost(cost);
    return decideAll(this.states, this.clock.nowMillis(), cost, true);
  }

  /** What `tryAcquire` would answer; takes nothing. */
  peek(cost = 1): Decision {
    assertCost(cost);
    return decideAll(this.states, this.clock.nowMillis(), cost, false);
  }

  /** Makes it as good as new. */
  reset(): void {
    for (const { cells } of this.states) cells.fill(0);
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
    const entry = { counters: this.counters(key), cost, mode };
    const outcomes = this.store.decide([entry], this.clock.nowMillis());
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
