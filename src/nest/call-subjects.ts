import { type ApiName, parseApiName } from '../core/api-name.js';
import { type Counter, type CounterPlan, counterOf } from '../core/counter-plan.js';
import type { Asker } from '../core/identity.js';
import type { MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import type { Tier } from '../core/tier-rules.js';
import type { Tiers } from '../core/tiers.js';
import { addressKey } from '../http/address.js';
import type { CurrentRules } from './current-rules.js';
import type { Dimensions } from './dimensions.js';
import type { CallOptions } from './service-options.js';
import type { Settings } from './settings.js';
import type { Warnings } from './warnings.js';

/** Who a call of the service is about, and which rules apply to it. */
export interface Subject {
  readonly asker: Asker;
  readonly plans: readonly CounterPlan[];
}

/** What is needed to find it. */
export interface SubjectParts extends Pick<Settings, 'ipv6Prefix' | 'normalizeId'> {
  readonly rules: CurrentRules;
  readonly tiers: Tiers | undefined;
  readonly dimensions: Dimensions;
  readonly warnings: Warnings;
}

/** Which counters a call of the service means. */
export class CallSubjects {
  constructor(private readonly parts: SubjectParts) {}

  /** What decides: the policy's rules, else those of the book that win. */
  deciding(
    userId: string | undefined,
    api: string,
    { dimensions, policy }: CallOptions,
  ): MaybePromise<Subject> {
    const name = parseApiName(api);
    const asker = this.asker(userId, name, dimensions);
    // The rules of one moment, also where the tier is told only later.
    return andThen(this.tierOf(asker.userId, policy), (tier) => {
      const plans = this.parts.rules.now.plansFor(asker.userId, name, tier, policy);
      return { asker, plans };
    });
  }

  /** The policy's rules, else those of the book for every method, and of every decorated handler. */
  every(
    userId: string | undefined,
    api: string,
    { dimensions, policy }: CallOptions,
  ): MaybePromise<Subject> {
    const asker = this.asker(userId, parseApiName(api), dimensions);
    return andThen(this.tierOf(asker.userId, policy), (tier) => {
      const plans = this.parts.rules.now.everyPlan(asker.userId, api, tier, policy);
      return { asker, plans };
    });
  }

  /** Of every rule, the counters that these ids determine: none that others share. */
  own(userId: string | undefined, api: string, options: CallOptions): MaybePromise<Counter[]> {
    return andThen(this.every(userId, api, options), ({ asker, plans }) => {
      const own = plans.filter(({ by }) => !by.includes('global'));
      return countersOf(own, asker);
    });
  }

  /** What such a call takes from; of a rule that is left out, one warning. */
  counters({ asker, plans }: Subject): Counter[] {
    return countersOf(plans, asker, this.warnSkipped);
  }

  /** Each id in its one spelling. */
  idOf(userId: string | undefined): string | undefined {
    const { normalizeId } = this.parts;
    return userId === undefined || !normalizeId ? userId : normalizeId(userId);
  }

  readonly warnSkipped = ({ rule, label }: CounterPlan): void => {
    const text = `"${rule}" of ${label} counts by ${rule.by.join('+')}, but neither a value nor an address is known: the rule is skipped`;
    this.parts.warnings.once(`skipped ${label}`, text);
  };

  private asker(
    userId: string | undefined,
    { name }: ApiName,
    dimensions: CallOptions['dimensions'],
  ): Asker {
    const ip = dimensions?.['ip'];
    return {
      userId: this.idOf(userId),
      address: ip === undefined ? undefined : addressKey(ip, this.parts.ipv6Prefix),
      api: name,
      dimensions: dimensions && this.parts.dimensions.shown(dimensions),
    };
  }

  private tierOf(
    userId: string | undefined,
    policy: CallOptions['policy'],
  ): MaybePromise<Tier | undefined> {
    const { tiers } = this.parts;
    return userId === undefined || policy !== undefined ? undefined : tiers?.tierOf(userId);
  }
}

/** The counters of rules for this asker; those that nothing tells apart are left out. */
export function countersOf(
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
