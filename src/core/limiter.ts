import { type AcquireOptions, visitOf } from './acquire-options.js';
import type { Cells, View } from './algorithms/index.js';
import type { Clock } from './clock.js';
import type { CounterPlan } from './counter-plan.js';
import { assertCost, type Decision } from './decision.js';
import { encodeParts } from './identity.js';
import { decideTogether } from './joint-decision.js';
import { andThen } from './maybe-promise.js';
import { type MaybePromise, type RateLimitStore, SynchronousStore } from './store.js';
import { countsFade } from './waiter.js';
import { WaitingRoom } from './waiting-room.js';

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
    private readonly room = new WaitingRoom(clock),
    /** Tells counters of one store from those of another in the room. */
    private readonly place = '',
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

  /**
   * Takes `cost` as soon as it fits, first come first served among those who wait for the key in
   * this process. Who asks with `tryAcquire`, or elsewhere, does not stand in line.
   *
   * Refuses at once what cannot come in time behind those before it, what never fits, and when too
   * many wait; else when its time is up. Who was not let in took nothing; if the time ends or the
   * signal comes while a store decides, its answer counts.
   *
   * @param key any string
   * @throws rejects with RangeError for a faulty cost or timeout, with the signal's reason, or with
   * what the store rejects with
   */
  async acquire(key: string, options: AcquireOptions = {}): Promise<Decision> {
    const visit = visitOf(options, this.clock.nowMillis());
    const take = (cost: number) => this.decide(key, cost, 'take');
    const peek = (cost: number) => this.decide(key, cost, 'peek');
    return this.room.enter(this.names(key), { take, peek, fades: countsFade(this.plans) }, visit);
  }

  /** Makes the key's counter as good as new; who waits for it is asked at once. */
  reset(key: string): MaybePromise<void> {
    return andThen(this.store.reset(this.counters(key)), () => this.room.wake(this.names(key)));
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

  private names(key: string): readonly string[] {
    return this.plans.map(({ id }) => encodeParts([this.place, id, key]));
  }
}
