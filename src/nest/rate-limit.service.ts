import type { Observable } from 'rxjs';
import { visitOf } from '../core/acquire-options.js';
import type { ApiName } from '../core/api-name.js';
import { ApplicableLimits, type DecoratedLimits } from '../core/applicable-limits.js';
import type { Counter, CounterPlan } from '../core/counter-plan.js';
import { assertCost, UNLIMITED } from '../core/decision.js';
import type { Asker } from '../core/identity.js';
import {
  type Clock,
  type Decision,
  type MaybePromise,
  type Outcome,
  type PolicySource,
} from '../core/index.js';
import { andThen, isPromise } from '../core/maybe-promise.js';
import { SteadyClock } from '../core/steady-clock.js';
import { CallCounters } from './call-counters.js';
import { type DecisionEvent, DecisionEvents } from './decision-events.js';
import type { CallOptions, CheckOptions, ServiceParts, WaitOptions } from './service-options.js';
import { StoreFallback } from './store-fallback.js';
import { type Leaving, Waiting } from './waiting.js';

/**
 * Decides by hand what the guard decides for requests: by the same rules, from the same counters.
 */
export class RateLimitService {
  private readonly clock: Clock;
  private readonly events = new DecisionEvents();
  private readonly calls: CallCounters;
  private readonly store: StoreFallback;
  private readonly waiting: Waiting;

  constructor(private readonly parts: ServiceParts) {
    this.clock = SteadyClock.over(parts.clock);
    this.calls = new CallCounters(parts);
    this.store = new StoreFallback(parts.store, this.clock, parts.warnings);
    this.waiting = new Waiting(this.store, this.clock, parts.maxWaiters);
  }

  /** Every decision of this module. */
  get decisions$(): Observable<DecisionEvent> {
    return this.events.stream;
  }

  /**
   * May this user do this now? Takes the cost if so. Uses the rule book, or `policy`.
   *
   * @param userId undefined for an anonymous caller, counted by `dimensions: { ip }`
   * @param api a route's template, `METHOD /path`, or any name of your own
   * @throws RangeError for a cost that is no whole number, 0 or more
   * @throws RateLimitConfigError for a faulty policy
   */
  async check<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CheckOptions<T> = {},
  ): Promise<Decision> {
    return this.run(userId, api, options);
  }

  /**
   * The same at once, where the store is synchronous.
   *
   * @throws TypeError where the store answers with a promise
   */
  checkSync<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CheckOptions<T> = {},
  ): Decision {
    const decision = this.run(userId, api, options);
    if (!isPromise(decision)) return decision;
    decision.catch(() => undefined);
    throw new TypeError(
      `checkSync needs a synchronous store, and ${this.parts.store.name} is none`,
    );
  }

  /**
   * The same as `check`, but waits for its turn, first come first served. Refuses at once what
   * cannot come in time, what never fits, and when `maxWaiters` wait; else when its time is up or
   * the application shuts down. Who was not let in took nothing.
   *
   * @throws as `check` does; RangeError for a faulty timeout; the signal's reason, unless the store
   * was deciding already and lets it in
   */
  async acquire<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: WaitOptions<T> = {},
  ): Promise<Decision> {
    const visit = visitOf(options, this.clock.nowMillis());
    const asker = this.calls.asker(userId, api, options.dimensions);
    const plans = this.calls.plansFor(asker, api, options.policy);
    const counters = this.calls.counters(plans, asker, this.calls.warnSkipped);
    const wait = () => this.waiting.acquire(counters, visit);
    return this.decide(counters, asker, visit.cost, 'take', wait);
  }

  /**
   * Whether `check` would be allowed, and how the counters stand now; takes nothing. Covers the rule book and every decorated handler
   * that serves `api`: `/orders` all its methods, `POST /orders` that one.
   */
  async peek<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CheckOptions<T> = {},
  ): Promise<Decision> {
    const { cost = 1, dimensions, policy } = options;
    const asker = this.calls.asker(userId, api, dimensions);
    const counters = this.calls.counters(this.calls.everyPlan(asker, api, policy), asker);
    return this.decide(counters, asker, cost, 'peek');
  }

  /**
   * Makes as good as new what this user, or this address, has used of this api: the same counters
   * as `peek` asks, but none that others share (`by=global`).
   */
  async reset<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CallOptions<T> = {},
  ): Promise<void> {
    const counters = this.calls.own(userId, api, options);
    await this.parts.store.reset(counters);
    this.waiting.wake(counters);
  }

  /**
   * Decides by rules that were found already: what the guard asks for each request. At once,
   * unless the store needs a promise, or rules have it wait.
   *
   * @param leaving made where the caller waits; without it nobody does
   */
  decideFor(
    plans: readonly CounterPlan[],
    asker: Asker,
    cost = 1,
    leaving?: () => Leaving,
  ): MaybePromise<Decision> {
    const counters = this.calls.counters(plans, asker, this.calls.warnSkipped);
    const wait = leaving && (() => this.waiting.decide({ counters, cost, mode: 'take' }, leaving));
    return this.decide(counters, asker, cost, 'take', wait);
  }

  /** Which limits apply to an api, for `decideFor`. */
  limitsOf(decorated: DecoratedLimits, api: ApiName): ApplicableLimits {
    return new ApplicableLimits(this.parts.book, decorated, api);
  }

  /** Called by the module before the application shuts down: refuses all who wait. */
  stopWaiting(): Promise<void> {
    return this.waiting.close();
  }

  /** Called by the module when the application shuts down. */
  close(): void {
    this.events.close();
    this.store.close();
  }

  private run(
    userId: string | undefined,
    api: string,
    { cost, dimensions, policy }: CheckOptions,
  ): MaybePromise<Decision> {
    const asker = this.calls.asker(userId, api, dimensions);
    return this.decideFor(this.calls.plansFor(asker, api, policy), asker, cost);
  }

  private decide(
    counters: readonly Counter[],
    asker: Asker,
    cost: number,
    mode: 'take' | 'peek',
    wait?: () => MaybePromise<Outcome>,
  ): MaybePromise<Decision> {
    assertCost(cost);
    // Where nobody started the application, its faults were not told yet.
    this.parts.faults.throwIfAny();
    if (counters.length === 0) return UNLIMITED;
    const answer = wait
      ? andThen(wait(), ({ decision }) => decision)
      : this.store.decide({ counters, cost, mode }, this.clock.nowMillis());
    return andThen(answer, (decision) => {
      if (mode === 'take' && this.events.observed) {
        const { userId, address, api } = asker;
        this.events.emit({ decision, userId, address, api, cost });
      }
      return decision;
    });
  }
}
