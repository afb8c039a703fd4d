import { type ApiName, parseApiName } from '../core/api-name.js';
import { ApplicableLimits, unique } from '../core/applicable-limits.js';
import { type Counter, type CounterPlan, counterOf } from '../core/counter-plan.js';
import type { Asker } from '../core/identity.js';
import type { PolicySource } from '../core/index.js';
import { addressKey } from '../http/address.js';
import { InlinePolicies } from './inline-policies.js';
import type { CallOptions, ServiceParts } from './service-options.js';

/** Which counters a call of the service means. */
export class CallCounters {
  private readonly inline: InlinePolicies;

  constructor(private readonly parts: ServiceParts) {
    this.inline = new InlinePolicies(parts.book, parts.catalog, parts.surroundings);
  }

  asker(
    userId: string | undefined,
    { name }: ApiName,
    dimensions: CallOptions['dimensions'],
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

  /** The rules that decide: the policy's, else those of the book that win. */
  plansFor(
    userId: string | undefined,
    name: ApiName,
    policy: PolicySource | undefined,
  ): readonly CounterPlan[] {
    if (policy !== undefined) return this.inline.plansOf(policy);
    return new ApplicableLimits(this.parts.book, undefined, name).plansFor(userId);
  }

  /** The policy's rules, else those of the book for every method, and of every decorated handler. */
  everyPlan(
    userId: string | undefined,
    api: string,
    policy: PolicySource | undefined,
  ): readonly CounterPlan[] {
    const { book, catalog } = this.parts;
    const serving = policy === undefined ? catalog.serving(api) : [];
    if (serving.length === 0) return this.plansFor(userId, parseApiName(api), policy);
    const limits = serving.map(
      ({ entry, route }) => new ApplicableLimits(book, entry.limits, route),
    );
    return unique(limits.flatMap((one) => one.plansFor(userId)));
  }

  /** Of every plan, the counters that these ids determine: none that others share. */
  own(userId: string | undefined, api: string, { dimensions, policy }: CallOptions): Counter[] {
    const asker = this.asker(userId, parseApiName(api), dimensions);
    const plans = this.everyPlan(asker.userId, api, policy);
    const own = plans.filter(({ by }) => !by.includes('global'));
    return this.counters(own, asker);
  }

  counters(
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

  readonly warnSkipped = ({ rule, label }: CounterPlan): void => {
    const text = `"${rule}" of ${label} counts by ${rule.by.join('+')}, but neither a value nor an address is known: the rule is skipped`;
    this.parts.warnings.once(`skipped ${label}`, text);
  };
}
