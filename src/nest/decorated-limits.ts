import type { DecoratedLimits } from '../core/applicable-limits.js';
import type { PlacedPolicy } from '../core/counter-plan.js';
import { type Faults, show } from '../core/fault.js';
import { Policy, type PolicySource, type Rule, type RuleBook } from '../core/index.js';
import { readPolicy } from '../core/policy.js';
import { checkAvailable, type Surroundings } from '../core/rule-availability.js';
import { isPolicyName, unknownPolicy } from '../core/rule-book-reader.js';
import type { Decoration } from './decorators.js';
import { checkCost, type RequestCost } from './request-cost.js';

/** A decorated handler and what its names are built of. */
export interface Decorated {
  readonly moduleName: string;
  readonly className: string;
  readonly methodName: string;
  readonly handler: Decoration | undefined;
  readonly class: Decoration | undefined;
}

/** The part of the identity that stands for a handler: one place for all its paths. */
export function placeOfHandler({ moduleName, className, methodName }: Decorated): string {
  return `${moduleName}/${className}.${methodName}`;
}

/**
 * What the decorators of a handler say: the nearest wins, the handler's before its class's. Each
 * fault is added to `faults`.
 */
export function readDecorated(
  decorated: Decorated,
  book: RuleBook,
  surroundings: Surroundings,
  faults: Faults,
): DecoratedLimits {
  const nearest = decorated.handler ?? decorated.class;
  if (!nearest) return undefined;
  const { className, methodName } = decorated;
  const onHandler = decorated.handler !== undefined;
  const place = onHandler ? `${className}.${methodName}` : className;
  if (conflict(nearest, place, faults)) return undefined;
  if (nearest.skip) return 'skip';
  const sources = nearest.limits[0] ?? [];
  if (nearest.cost) checkCost(nearest.cost, `@RateLimit on ${place}`, faults);
  const limits = readSources(sources, `@RateLimit on ${place}`, book, faults);
  if (limits.inline) checkAvailable(limits.inline, `@RateLimit on ${place}`, surroundings, faults);
  return [...limits.named, ...(limits.inline ? [placed(limits.inline, decorated, onHandler)] : [])];
}

/** What the nearest decorator says that a request costs. */
export function decoratedCost({ handler, class: ofClass }: Decorated): RequestCost | undefined {
  return (handler ?? ofClass)?.cost;
}

function placed(policy: Policy, decorated: Decorated, onHandler: boolean): PlacedPolicy {
  const { moduleName, className, methodName } = decorated;
  return {
    policy,
    place: placeOfHandler(decorated),
    label: `${className}.${methodName}`,
    placeIsApi: true,
    ...(onHandler ? {} : { sharedPlace: `${moduleName}/${className}` }),
  };
}

function conflict(nearest: Decoration, place: string, faults: Faults): boolean {
  if (nearest.skip && nearest.limits.length > 0) {
    const problem = '@RateLimit and @SkipRateLimit exclude each other on one target';
    faults.add({ code: 'DECORATOR_CONFLICT', place, given: '@SkipRateLimit()', problem });
    return true;
  }
  if (nearest.limits.length > 1) {
    const problem = '@RateLimit stands twice; give both rules to one: @RateLimit(a, b)';
    faults.add({ code: 'DECORATOR_CONFLICT', place, given: show(nearest.limits), problem });
    return true;
  }
  return false;
}

function readSources(
  sources: readonly PolicySource[],
  place: string,
  book: RuleBook,
  faults: Faults,
): { named: PlacedPolicy[]; inline: Policy | undefined } {
  const named: PlacedPolicy[] = [];
  const rules: Rule[] = [];
  if (sources.length === 0) {
    const problem = 'no rule is given; @SkipRateLimit() is for handlers without a limit';
    faults.add({ code: 'RULE_SYNTAX', place, given: '@RateLimit()', problem });
  }
  for (const source of sources) {
    if (typeof source === 'string' && isPolicyName(source)) {
      const found = book.policy(source.trim());
      if (found) named.push(found);
      else unknownPolicy(source, place, book.policyNames, faults);
    } else rules.push(...(readPolicy(source, place, faults)?.rules ?? []));
  }
  return { named, inline: rules.length > 0 ? new Policy(rules) : undefined };
}
