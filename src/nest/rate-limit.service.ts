import type { Observable } from 'rxjs';
import { visitOf } from '../core/acquire-options.js';
import { type ApiName, parseApiName } from '../core/api-name.js';
import { ApplicableLimits, type DecoratedLimits } from '../core/applicable-limits.js';
import type { CounterPlan } from '../core/counter-plan.js';
import type { Asker } from '../core/identity.js';
import type { Clock, Decision, MaybePromise, PolicySource } from '../core/index.js';
import { isPromise } from '../core/maybe-promise.js';
import { SteadyClock } from '../core/steady-clock.js';
import { blockedUntil } from './blocked-until.js';
import { CallCounters } from './call-counters.js';
import { Deciding, type RequestWays } from './deciding.js';
import type { DecisionEvent } from './decision-events.js';
import { type Reservation, reserved } from './reservation.js';
import type { CallOptions, CheckOptions, ServiceParts, WaitOptions } from './service-options.js';
import type { DroppedEvent, Keep } from './settlements.js';

/**
 * Decides by hand what the guard decides for requests: by the same rules, from the same counters.
 */
export class RateLimitService {
  private readonly clock: Clock;
  private readonly calls: CallCounters;
  private readonly deciding: Deciding;

  constructor(private readonly parts: ServiceParts) {
    this.clock = SteadyClock.over(parts.clock);
    this.calls = new CallCounters(parts);
    this.deciding = new Deciding(parts, this.clock);
  }

  /** Every decision of this module. */
  get decisions$(): Observable<DecisionEvent> {
    return this.deciding.events.stream;
  }

  /** What cost more in the end than was taken, and could not be charged in full. */
  get dropped$(): Observable<DroppedEvent> {
    return this.deciding.settlements.dropped;
  }

  /**
   * May this user do this now? Takes the cost if so. Uses the rule book, or `policy`. A rule with
   * `count=failures` or `successes` counts all: how it ends is not known here; see `reserve`.
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
    const name = parseApiName(api);
    const asker = this.calls.asker(userId, name, options.dimensions);
    const plans = this.calls.plansFor(asker.userId, name, options.policy);
    const counters = this.calls.counters(plans, asker, this.calls.warnSkipped);
    const wait = () => this.deciding.waiting.acquire(counters, visit);
    return this.deciding.decide(counters, asker, visit.cost, 'take', { wait });
  }

  /**
   * Takes an estimate, to be settled when the real cost is known: the same as `check`, with
   * `commit(actual)` and `cancel()` beside the decision.
   *
   * @throws RangeError or RateLimitConfigError as `check` does
   */
  async reserve<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CheckOptions<T> = {},
  ): Promise<Reservation> {
    return reserved((keep) => this.run(userId, api, options, keep));
  }

  /**
   * Whether `check` would be allowed, and how the counters stand now; takes nothing. Covers the
   * rule book and every decorated handler that serves `api`: `/orders` all its methods,
   * `POST /orders` that one.
   */
  async peek<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CheckOptions<T> = {},
  ): Promise<Decision> {
    const { cost = 1, dimensions, policy } = options;
    const asker = this.calls.asker(userId, parseApiName(api), dimensions);
    const plans = this.calls.everyPlan(asker.userId, api, policy);
    return this.deciding.decide(this.calls.counters(plans, asker), asker, cost, 'peek');
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
    this.deciding.waiting.wake(counters);
  }

  /**
   * Refuses what this user, or this address, asks of this api, whatever is left: the counters that
   * `reset` resets. A rule that counts by user alone is blocked for every api.
   *
   * @param forMillis a positive whole number; a later block replaces an earlier one
   * @returns false where no rule counts this caller alone, so that nothing is blocked
   * @throws RangeError for any other time
   */
  async block<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    forMillis: number,
    options: CallOptions<T> = {},
  ): Promise<boolean> {
    const now = this.clock.nowMillis();
    const until = blockedUntil(now, forMillis);
    const counters = this.calls.own(userId, api, options);
    if (counters.length > 0) await this.parts.store.block(counters, until, now);
    return counters.length > 0;
  }

  /** Lifts a block. What was spent before it stays spent. */
  async unblock<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CallOptions<T> = {},
  ): Promise<void> {
    const counters = this.calls.own(userId, api, options);
    if (counters.length > 0) await this.parts.store.block(counters, 0, this.clock.nowMillis());
    this.deciding.waiting.wake(counters);
  }

  /**
   * Decides by rules that were found already: what the guard asks for each request. At once,
   * unless the store needs a promise, or rules have it wait.
   */
  decideFor(
    plans: readonly CounterPlan[],
    asker: Asker,
    cost = 1,
    { leaving, keep }: RequestWays = {},
  ): MaybePromise<Decision> {
    const counters = this.calls.counters(plans, asker, this.calls.warnSkipped);
    const wait =
      leaving && (() => this.deciding.waiting.decide({ counters, cost, mode: 'take' }, leaving));
    return this.deciding.decide(counters, asker, cost, 'take', { wait, keep });
  }

  /** Which limits apply to an api, for `decideFor`. */
  limitsOf(decorated: DecoratedLimits, api: ApiName): ApplicableLimits {
    return new ApplicableLimits(this.parts.book, decorated, api);
  }

  /** Called by the module before the application shuts down: refuses all who wait. */
  stopWaiting(): Promise<void> {
    return this.deciding.waiting.close();
  }

  /** Called by the module when the application shuts down. */
  close(): void {
    this.deciding.close();
  }

  private run(
    userId: string | undefined,
    api: string,
    { cost, dimensions, policy }: CheckOptions,
    keep?: Keep,
  ): MaybePromise<Decision> {
    const name = parseApiName(api);
    const asker = this.calls.asker(userId, name, dimensions);
    return this.decideFor(this.calls.plansFor(asker.userId, name, policy), asker, cost, { keep });
  }
}
