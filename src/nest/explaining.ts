import { type Counter, type CounterPlan, counterOf } from '../core/counter-plan.js';
import { type Asker, valuesByDimension } from '../core/identity.js';
import type { Decision, MaybePromise, RefusalReason } from '../core/index.js';
import type { KnownTier } from '../core/tiers.js';
import type { Subject } from './call-subjects.js';
import { describeRule, type RuleDescription } from './describing.js';
import { type AskerFacts, factsOf } from './events.js';
import type { RulesInForce } from './rules-in-force.js';
import type { ModuleMode } from './settings.js';

/** How one rule stands for somebody. */
export interface RuleExplanation extends RuleDescription {
  /**
   * What it counts by here: `{ user: 'alice', api: '/orders' }`, or `{ ip: … }` where the address
   * stands in. Undefined where nothing is known to count by, and the rule is skipped.
   */
  readonly countedBy: Readonly<Record<string, string>> | undefined;
  /** Whether one more request fits now. */
  readonly allowed: boolean;
  readonly reason: RefusalReason | undefined;
  /** The capacity. */
  readonly limit: number;
  readonly remaining: number;
  /** Until one more request fits; 0: now. */
  readonly retryAfterMillis: number;
  /** Until the counter is as good as new. */
  readonly resetAfterMillis: number;
}

/** Why somebody is limited as they are. */
export interface Explanation extends AskerFacts {
  readonly mode: ModuleMode;
  /** What `tierOf` answered last, a tier's name or rules, and how long ago. */
  readonly tier: { readonly name: string; readonly ageMillis: number } | undefined;
  /** Whether a request would be let in now. */
  readonly allowed: boolean;
  /** Until a request would be let in; 0: now, `Infinity`: never. */
  readonly clearsAfterMillis: number;
  /** Every rule that applies: the winner's first, then those that always join. */
  readonly rules: readonly RuleExplanation[];
}

/** Asks how each rule stands, without taking anything. */
export async function explained(
  { asker, plans }: Subject,
  tier: KnownTier | undefined,
  { mode }: RulesInForce,
  peek: (counter: Counter) => MaybePromise<Decision>,
): Promise<Explanation> {
  const rules = await Promise.all(plans.map((plan) => explainRule(plan, asker, peek)));
  const refusing = rules.filter((rule) => mode === 'enforce' && rule.mode === 'enforce');
  const clearsAfterMillis = Math.max(0, ...refusing.map((rule) => rule.retryAfterMillis));
  const allowed = refusing.every((rule) => rule.allowed);
  const known = tier && nameOf(tier);
  return { ...factsOf(asker), mode, tier: known, allowed, clearsAfterMillis, rules };
}

function nameOf({ tier, ageMillis }: KnownTier): Explanation['tier'] {
  if (tier === undefined) return undefined;
  return { name: typeof tier === 'string' ? tier : tier.text, ageMillis };
}

async function explainRule(
  plan: CounterPlan,
  asker: Asker,
  peek: (counter: Counter) => MaybePromise<Decision>,
): Promise<RuleExplanation> {
  const counter = counterOf(plan, asker);
  const described = describeRule(plan);
  if (!counter) return { ...described, countedBy: undefined, ...SKIPPED };
  const { allowed, reason, limit, remaining, retryAfterMillis, resetAfterMillis } =
    await peek(counter);
  const numbers = { limit, remaining, retryAfterMillis, resetAfterMillis };
  return {
    ...described,
    countedBy: valuesByDimension(plan.by, asker),
    allowed,
    reason,
    ...numbers,
  };
}

/** How a rule stands that counts nothing. */
const SKIPPED = {
  allowed: true,
  reason: undefined,
  limit: Number.POSITIVE_INFINITY,
  remaining: Number.POSITIVE_INFINITY,
  retryAfterMillis: 0,
  resetAfterMillis: 0,
} as const;
