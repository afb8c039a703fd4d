import type { Observable } from 'rxjs';
import { type ApiName, parseApiName } from '../core/api-name.js';
import { ApplicableLimits, type DecoratedLimits, unique } from '../core/applicable-limits.js';
import { type Counter, type CounterPlan, counterOf } from '../core/counter-plan.js';
import { assertCost, UNLIMITED } from '../core/decision.js';
import type { Asker } from '../core/identity.js';
import { type Clock, type Decision, type MaybePromise, type PolicySource } from '../core/index.js';
import { andThen, isPromise } from '../core/maybe-promise.js';
import { SteadyClock } from '../core/steady-clock.js';
import { addressKey } from '../http/address.js';
import { type DecisionEvent, DecisionEvents } from './decision-events.js';
import { InlinePolicies } from './inline-policies.js';
import type { CheckOptions, ServiceParts } from './service-options.js';
import { StoreFallback } from './store-fallback.js';

/**
 * Decides by hand what the guard decides for requests: by the same rules, from the same counters.
 */
export class RateLimitService {
  private readonly clock: Clock;
  private readonly events = new DecisionEvents();
  private readonly inline: InlinePolicies;
  private readonly store: StoreFallback;

  constructor(private readonly parts: ServiceParts) {
    this.clock = SteadyClock.over(parts.clock);
    this.inline = new InlinePolicies(parts.book, parts.catalog, parts.surroundings);
    this.store = new StoreFallback(parts.store, this.clock, parts.warnings);
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
   * Whether `check` would be allowed, and how the counters stand now; takes nothing. Covers the rule book and every decorated handler
   * that serves `api`: `/orders` all its methods, `POST /orders` that one.
   */
  async peek<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: CheckOptions<T> = {},
  ): Promise<Decision> {
    const { cost = 1, dimensions, policy } = options;
    const asker = this.asker(userId, parseApiName(api), dimensions);
    const counters = this.counters(this.everyPlan(asker.userId, api, policy), asker);
    return this.decide(counters, asker, cost, 'peek');
  }

  /**
   * Makes as good as new what this user, or this address, has used of this api: the same counters
   * as `peek` asks, but none that others share (`by=global`).
   */
  async reset<const T extends PolicySource>(
    userId: string | undefined,
    api: string,
    options: Pick<CheckOptions<T>, 'dimensions' | 'policy'> = {},
  ): Promise<void> {
    const asker = this.asker(userId, parseApiName(api), options.dimensions);
    const plans = this.everyPlan(asker.userId, api, options.policy);
    const own = plans.filter(({ by }) => !by.includes('global'));
    await this.parts.store.reset(this.counters(own, asker));
  }

  /**
   * Decides by rules that were found already: what the guard asks for each request. At once,
   * unless the store needs a promise.
   */
  decideFor(plans: readonly CounterPlan[], asker: Asker, cost = 1): MaybePromise<Decision> {
    return this.take(plans, asker, cost);
  }

  /** Which limits apply to an api, for `decideFor`. */
  limitsOf(decorated: DecoratedLimits, api: ApiName): ApplicableLimits {
    return new ApplicableLimits(this.parts.book, decorated, api);
  }

  /** Called by the module when the application shuts down. */
  close(): void {
    this.events.close();
    this.store.close();
  }

  private run(
    userId: string | undefined,
    api: string,
    { cost = 1, dimensions, policy }: CheckOptions,
  ): MaybePromise<Decision> {
    const name = parseApiName(api);
    const asker = this.asker(userId, name, dimensions);
    const plans =
      policy === undefined
        ? this.limitsOf(undefined, name).plansFor(asker.userId)
        : this.inline.plansOf(policy);
    return this.take(plans, asker, cost);
  }

  private take(plans: readonly CounterPlan[], asker: Asker, cost: number): MaybePromise<Decision> {
    const counters = this.counters(plans, asker, this.warnSkipped);
    return this.decide(counters, asker, cost, 'take');
  }

  private decide(
    counters: readonly Counter[],
    asker: Asker,
    cost: number,
    mode: 'take' | 'peek',
  ): MaybePromise<Decision> {
    assertCost(cost);
    // Where nobody started the application, its faults were not told yet.
    this.parts.faults.throwIfAny();
    if (counters.length === 0) return UNLIMITED;
    const answer = this.store.decide({ counters, cost, mode }, this.clock.nowMillis());
    return andThen(answer, (decision) => {
      if (mode === 'take' && this.events.observed) {
        const { userId, address, api } = asker;
        this.events.emit({ decision, userId, address, api, cost });
      }
      return decision;
    });
  }

  private asker(
    userId: string | undefined,
    { name }: ApiName,
    dimensions: CheckOptions['dimensions'],
  ): Asker {
    const { normalizeId, ipv6Prefix } = this.parts;
    const ip = dimensions?.['ip'];
    return {
      userId: userId === undefined || !normalizeId ? userId : normalizeId(userId),
      address: ip === undefined ? undefined : addressKey(ip, ipv6Prefix),
      api: name,
      dimensions,
    };
  }

  private counters(
    plans: readonly CounterPlan[],
    asker: Asker,
    onSkip?: (plan: CounterPlan) => void,
  ): Counter[] {
    const counters: Counter[] = [];
    for (const plan of plans) {
      const counter = counterOf(plan, asker);
      if (counter) counters.push(counter);
      else onSkip?.(plan);
    }
    return counters;
  }

  private readonly warnSkipped = ({ rule, label }: CounterPlan): void => {
    const text = `"${rule}" of ${label} counts by ${rule.by.join('+')}, but neither a value nor an address is known: the rule is skipped`;
    this.parts.warnings.once(`skipped ${label}`, text);
  };

  /** The rules of the book for every method of the api, and of every decorated handler. */
  private everyPlan(
    userId: string | undefined,
    api: string,
    policy: PolicySource | undefined,
  ): readonly CounterPlan[] {
    if (policy !== undefined) return this.inline.plansOf(policy);
    const serving = this.parts.catalog.serving(api);
    const limits = serving.map(({ entry, route }) => this.limitsOf(entry.limits, route));
    const all = limits.length > 0 ? limits : [this.limitsOf(undefined, parseApiName(api))];
    return unique(all.flatMap((one) => one.plansFor(userId)));
  }
}
