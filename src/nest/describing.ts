import { type ApiName, formatApiName } from '../core/api-name.js';
import type { CounterPlan } from '../core/counter-plan.js';
import type { RuleMode } from '../core/index.js';
import type { HandlerCatalog } from './handler-catalog.js';
import type { RulesInForce } from './rules-in-force.js';

/** One rule, and where it comes from. */
export interface RuleDescription {
  /** The name in decisions and headers. */
  readonly policy: string;
  /** Rule text. */
  readonly rule: string;
  /** Where it was written: `default`, `api:/login`, `OrdersModule/OrdersController.list`, … */
  readonly place: string;
  /** The dimensions that its counters tell apart. */
  readonly by: readonly string[];
  readonly mode: RuleMode;
}

/** What limits one route. */
export interface HandlerDescription {
  /** `OrdersController.list`. */
  readonly handler: string;
  /** `GET /orders`; a handler of every method has none in it. */
  readonly route: string;
  /** Whether `@SkipRateLimit` lets it through; then only rules with `final=true` apply. */
  readonly skipped: boolean;
  /** What a caller meets for whom neither user nor tier has rules; empty: no limit. */
  readonly limits: readonly RuleDescription[];
  /** Whether users or tiers may have other limits here. */
  readonly personal: boolean;
}

export function describeRule({ label, rule, place, by }: CounterPlan): RuleDescription {
  return { policy: label, rule: rule.toString(), place, by, mode: rule.mode };
}

/** Every handler once a route, in the order of the modules. */
export function describeHandlers(
  catalog: HandlerCatalog,
  rules: RulesInForce,
): HandlerDescription[] {
  return [...catalog.all()].flatMap((entry) =>
    entry.routes.map((route: ApiName) => {
      const limits = rules.limitsOf(entry, route);
      return {
        handler: `${entry.decorated.className}.${entry.decorated.methodName}`,
        route: formatApiName(route),
        skipped: rules.decoratedLimits(entry) === 'skip',
        limits: limits.plansFor(undefined).map(describeRule),
        personal: limits.personal,
      };
    }),
  );
}
