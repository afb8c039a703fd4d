import type { Cells, View } from './algorithms/index.js';
import type { CounterPlan } from './counter-plan.js';
import { showNumber } from './fault.js';

/**
 * Why a request was refused: the quota is used up, the cost is above the capacity and never fits,
 * the counter is blocked, or its store could not be asked.
 */
export type RefusalReason = 'quota' | 'never' | 'blocked' | 'store';

/** What a rule, or all rules together, say of one request. Times in whole milliseconds. */
export interface Standing {
  readonly allowed: boolean;
  /** The capacity: how many a fresh counter admits at once. */
  readonly limit: number;
  /** The time in which the capacity fills, rounded up. */
  readonly windowMillis: number;
  /** How much could be taken now: whole, rounded down, 0 … limit; on a refusal what is left. */
  readonly remaining: number;
  /**
   * 0 when allowed. Else the same request alone is refused one millisecond before this has
   * passed, and allowed once it has; `Infinity` when it never fits.
   */
  readonly retryAfterMillis: number;
  /** Until the counter is as good as new. */
  readonly resetAfterMillis: number;
  /** Until `remaining` next grows; 0 when full. */
  readonly moreAfterMillis: number;
}

/** What one rule of several says. */
export interface RuleDecision extends Standing {
  /** The rule's name, else its policy's, with `-2`, `-3` for further rules. */
  readonly name: string;
}

/**
 * The answer to one request. Of several rules: allowed if all allow; the smallest remaining; the
 * largest wait of those that refuse; reset the largest; more the largest among those whose
 * remaining is the smallest. `policy`, `limit` and `windowMillis` are those of the refusing rule
 * with the longest wait, else of the smallest remaining.
 *
 * Worked example, `token-bucket,5,10 & fixed-window,100,1d`, the sixth call at once:
 * `{ allowed: false, reason: 'quota', limit: 5, remaining: 0, retryAfterMillis: 2000, … }`.
 */
export interface Decision extends Standing {
  readonly reason: RefusalReason | undefined;
  /** Name of the policy, or of the rule that decided. */
  readonly policy: string;
  /** Each rule's part, when there are several. */
  readonly rules: readonly RuleDecision[] | undefined;
  /** Present, and true, when the store could not be asked and each rule did as `onStoreError` says. */
  readonly degraded?: boolean;
}

/** The decision where no rule applies. */
export const UNLIMITED: Decision = Object.freeze({
  allowed: true,
  reason: undefined,
  policy: 'unlimited',
  limit: Number.POSITIVE_INFINITY,
  windowMillis: 0,
  remaining: Number.POSITIVE_INFINITY,
  retryAfterMillis: 0,
  resetAfterMillis: 0,
  moreAfterMillis: 0,
  rules: undefined,
});

/** The rules of a decision as a list, also when there is just one. */
export function rulesOf(decision: Decision): readonly RuleDecision[] {
  if (decision.rules) return decision.rules;
  const { policy: name, allowed, limit, windowMillis, remaining } = decision;
  const { retryAfterMillis, resetAfterMillis, moreAfterMillis } = decision;
  const numbers = { retryAfterMillis, resetAfterMillis, moreAfterMillis };
  return [{ name, allowed, limit, windowMillis, remaining, ...numbers }];
}

/**
 * A cost is a whole number, 0 or more.
 *
 * @throws RangeError for anything else
 */
export function assertCost(cost: number): void {
  if (!(Number.isInteger(cost) && cost >= 0)) {
    throw new RangeError(`A cost is a whole number, 0 or more, got ${showNumber(cost)}`);
  }
}

/**
 * Asks a rule: how long until `cost` fits, 0 when it does, `Infinity` when it never will; takes it
 * if told to. Nothing always fits, even where a bucket was overdrawn.
 */
export function askRule(
  { algorithm }: CounterPlan,
  cells: Cells,
  at: number,
  now: number,
  cost: number,
  take: boolean,
  view: View,
): number {
  if (cost > 0 && cost <= algorithm.capacity) {
    return algorithm.decide(cells, at, now, cost, take, view);
  }
  algorithm.decide(cells, at, now, 0, false, view);
  return cost === 0 ? 0 : Number.POSITIVE_INFINITY;
}

/** What a single rule decides, from how its counter stands. */
export function decisionOf({ algorithm, label }: CounterPlan, wait: number, view: View): Decision {
  return {
    allowed: wait === 0,
    reason: wait === 0 ? undefined : reasonOf(wait),
    policy: label,
    limit: algorithm.capacity,
    windowMillis: algorithm.fillMillis,
    remaining: view.remaining,
    retryAfterMillis: wait,
    resetAfterMillis: view.resetAfter,
    moreAfterMillis: view.moreAfter,
    rules: undefined,
  };
}

/** One rule's part of a decision of several. */
export function ruleDecisionOf(plan: CounterPlan, wait: number, view: View): RuleDecision {
  return {
    name: plan.label,
    allowed: wait === 0,
    limit: plan.algorithm.capacity,
    windowMillis: plan.algorithm.fillMillis,
    remaining: view.remaining,
    retryAfterMillis: wait,
    resetAfterMillis: view.resetAfter,
    moreAfterMillis: view.moreAfter,
  };
}

/** The one decision of several rules. */
export function joinDecisions(rules: readonly RuleDecision[]): Decision {
  let scarcest = rules[0]!;
  let slowest = rules[0]!;
  let resetAfterMillis = 0;
  for (const rule of rules) {
    if (rule.remaining < scarcest.remaining) scarcest = rule;
    if (rule.retryAfterMillis > slowest.retryAfterMillis) slowest = rule;
    if (rule.resetAfterMillis > resetAfterMillis) resetAfterMillis = rule.resetAfterMillis;
  }
  const allowed = slowest.retryAfterMillis === 0;
  const deciding = allowed ? scarcest : slowest;
  return {
    allowed,
    reason: allowed ? undefined : reasonOf(slowest.retryAfterMillis),
    policy: deciding.name,
    limit: deciding.limit,
    windowMillis: deciding.windowMillis,
    remaining: scarcest.remaining,
    retryAfterMillis: slowest.retryAfterMillis,
    resetAfterMillis,
    moreAfterMillis: moreAfter(rules, scarcest.remaining),
    rules,
  };
}

/**
 * One decision of rules that let in earlier, and of others that were asked later for the same
 * request. Of a refusal, policy and wait are the later one's own: a block is in no rule's part.
 *
 * @param degraded whether the earlier was said without the store
 */
export function continueDecision(
  earlier: readonly RuleDecision[],
  later: Decision,
  degraded = false,
): Decision {
  if (earlier.length === 0) return later;
  const isLimited = later.limit !== Number.POSITIVE_INFINITY;
  const joint = joinDecisions(isLimited ? [...earlier, ...rulesOf(later)] : earlier);
  const { allowed, reason, policy, limit, windowMillis, retryAfterMillis } = later;
  const isOwn = !allowed && joint.retryAfterMillis <= retryAfterMillis;
  const own = isOwn ? { policy, limit, windowMillis, retryAfterMillis } : {};
  const decision = isLimited ? { ...joint, allowed, reason, ...own } : joint;
  return degraded || later.degraded ? { ...decision, degraded: true } : decision;
}

/** All of the scarcest have to gain before the joint remaining grows; a full one never does. */
function moreAfter(rules: readonly RuleDecision[], remaining: number): number {
  let more = 0;
  for (const rule of rules) {
    if (rule.remaining !== remaining) continue;
    if (rule.moreAfterMillis === 0) return 0;
    more = Math.max(more, rule.moreAfterMillis);
  }
  return more;
}

function reasonOf(wait: number): RefusalReason {
  return wait === Number.POSITIVE_INFINITY ? 'never' : 'quota';
}

/** The same decision, refused because a counter is blocked for `leftMillis` more. */
export function blockedDecision(decision: Decision, leftMillis: number): Decision {
  if (decision.reason === 'never') return decision;
  const retryAfterMillis = Math.max(leftMillis, decision.retryAfterMillis);
  return { ...decision, allowed: false, reason: 'blocked', retryAfterMillis };
}
