import type { Observable } from 'rxjs';
import { visitOf } from '../core/acquire-options.js';
import type { Counter } from '../core/counter-plan.js';
import type { Decision, MaybePromise, PolicySource, RuleBook } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import { decidedAtOnce } from './at-once.js';
import { type CallSubjects, countersOf, type Subject } from './call-subjects.js';
import { CallerCounters } from './caller-counters.js';
import type { Deciding } from './deciding.js';
import { describeHandlers, type HandlerDescription } from './describing.js';
import type { DecisionEvent, RateLimitEvent } from './events.js';
import { type Explanation, explained } from './explaining.js';
import { type Reservation, reserved } from './reservation.js';
import type { BookText } from './rule-sources.js';
import type { CallOptions, CheckOptions, ServiceParts, WaitOptions } from './service-options.js';
import type { Keep } from './settlements.js';
import type { PolicyUtilisation } from './utilisation.js';

/** Decides by hand what the guard decides for requests: by the same rules and counters. */
export class RateLimitService {
  private readonly calls: CallSubjects;
  private readonly deciding: Deciding;
  private readonly counters: CallerCounters;

  constructor(private readonly parts: ServiceParts) {
    ({ calls: this.calls, deciding: this.deciding } = parts);
    this.counters = new CallerCounters(parts.calls, parts.store, parts.deciding);
  }

  /** Every decision of this module. */
  get decisions$(): Observable<DecisionEvent> {
    return this.parts.events.decisions;
  }

  /** What happens beside decisions; costs nothing while nobody listens. */
  get events$(): Observable<RateLimitEvent> {
    return this.parts.events.stream;
  }

  /** The rule book in force; another one after each reload. */
  get book(): RuleBook {
    return this.parts.rules.now.book;
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
   * The same at once, where the store and `tierOf` are synchronous.
   *
   * @throws TypeError where one of them answers with a promise; then nothing stays taken
   */
  checkSync<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CheckOptions<T> = {},
  ): Decision {
    const subject = this.calls.deciding(userId, api, options);
    const take = (one: Subject, keep?: Keep) => this.take(one, options, keep);
    return decidedAtOnce(subject, take, this.parts.store);
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
    const visit = visitOf(options, this.deciding.clock.nowMillis());
    const subject = await this.calls.deciding(userId, api, options);
    const counters = this.calls.counters(subject);
    const wait = (some: readonly Counter[]) => this.deciding.waiting.acquire(some, visit);
    return this.deciding.take(counters, subject.asker, visit.cost, { wait });
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
    const { asker, plans } = await this.calls.every(userId, api, options);
    return this.deciding.peek(countersOf(plans, asker), options.cost);
  }

  /**
   * Why somebody is limited: which rules apply, where they stand, what they count by, what is left
   * and when it clears; of the same counters as `peek`, and of rules in shadow mode too.
   */
  async explain<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CallOptions<T> = {},
  ): Promise<Explanation> {
    const id = this.calls.idOf(userId);
    const subject = await this.calls.every(userId, api, options);
    const tier = id === undefined ? undefined : this.parts.tiers?.known(id);
    return explained(subject, tier, this.parts.rules.now, (counter) =>
      this.deciding.peek([counter], 1, true),
    );
  }

  /** Every handler: its routes, and what limits a caller without a name there. */
  describe(): HandlerDescription[] {
    return describeHandlers(this.parts.catalog, this.parts.rules.now);
  }

  /** How near callers come to each limit, since the start of this process. */
  utilisation(): readonly PolicyUtilisation[] {
    return this.deciding.utilisation.report();
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
    await this.counters.reset(userId, api, options);
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
    return this.counters.block(userId, api, forMillis, options);
  }

  /** Lifts a block. What was spent before it stays spent. */
  async unblock<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CallOptions<T> = {},
  ): Promise<void> {
    await this.counters.unblock(userId, api, options);
  }

  /**
   * Puts other rules in force in place of the option `rules`, at once and as a whole; the option
   * `always` and a rules file stay. Counters go on where only limits changed.
   *
   * @throws RateLimitConfigError with every fault, which is logged too; the old rules stay
   */
  reload(rules: BookText): void {
    this.parts.rules.reload(rules);
  }

  /** Forgets the tier of a user: `tierOf` is asked again at the next request. */
  invalidateTier(userId: string): void {
    this.parts.tiers?.invalidate(this.calls.idOf(userId)!);
  }

  private run(
    userId: string | undefined,
    api: string,
    options: CheckOptions,
    keep?: Keep,
  ): MaybePromise<Decision> {
    return andThen(this.calls.deciding(userId, api, options), (subject) =>
      this.take(subject, options, keep),
    );
  }

  private take(subject: Subject, { cost }: CheckOptions, keep?: Keep): MaybePromise<Decision> {
    return this.deciding.take(this.calls.counters(subject), subject.asker, cost, { keep });
  }
}
