import type { Cells } from './algorithms/index.js';
import type { CounterPlan } from './counter-plan.js';

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
  return decision.rules ?? [{ ...decision, name: decision.policy }];
}

/** The numbers of one counter, where they lie. */
export interface CounterState {
  readonly plan: CounterPlan;
  readonly cells: Cells;
  readonly at: number;
}

/**
 * A cost is a whole number, 0 or more.
 *
 * @throws RangeError for anything else
 */
export function assertCost(cost: number): void {
  if (!(Number.isInteger(cost) && cost >= 0)) {
    const given = typeof cost === 'number' ? String(cost) : `${typeof cost} ${String(cost)}`;
    throw new RangeError(`A cost is a whole number, 0 or more, got ${given}`);
  }
}

/** How long until `cost` fits. Nothing always fits, even where a bucket was overdrawn. */
function waitFor({ plan, cells, at }: CounterState, now: number, cost: number): number {
  if (cost === 0) return 0;
  if (cost > plan.algorithm.capacity) return Number.POSITIVE_INFINITY;
  return plan.algorithm.wait(cells, at, now, cost);
}

/** Decides by one counter; takes from it when told to and when it fits. */
export function decideOne(state: CounterState, now: number, cost: number, take: boolean): Decision {
  const { plan, cells, at } = state;
  const { algorithm } = plan;
  const wait = waitFor(state, now, cost);
  if (take && wait === 0 && cost > 0) algorithm.take(cells, at, now, cost);
  return {
    allowed: wait === 0,
    reason: wait === 0 ? undefined : reasonOf(wait),
    policy: plan.label,
    limit: algorithm.capacity,
    windowMillis: algorithm.fillMillis,
    remaining: algorithm.remaining(cells, at, now),
    retryAfterMillis: wait,
    resetAfterMillis: algorithm.resetAfter(cells, at, now),
    moreAfterMillis: algorithm.moreAfter(cells, at, now),
    rules: undefined,
  };
}

/** Decides by several counters together: all spend, or none. */
export function decideAll(
  states: readonly CounterState[],
  now: number,
  cost: number,
  take: boolean,
): Decision {
  if (states.length === 1) return decideOne(states[0]!, now, cost, take);
  const waits = states.map((state) => waitFor(state, now, cost));
  if (take && cost > 0 && waits.every((wait) => wait === 0)) {
    for (const { plan, cells, at } of states) plan.algorithm.take(cells, at, now, cost);
  }
  return joinDecisions(states.map((state, i) => ruleDecision(state, now, waits[i]!)));
}

function ruleDecision({ plan, cells, at }: CounterState, now: number, wait: number): RuleDecision {
  const { algorithm } = plan;
  return {
    name: plan.label,
    allowed: wait === 0,
    limit: algorithm.capacity,
    windowMillis: algorithm.fillMillis,
    remaining: algorithm.remaining(cells, at, now),
    retryAfterMillis: wait,
    resetAfterMillis: algorithm.resetAfter(cells, at, now),
    moreAfterMillis: algorithm.moreAfter(cells, at, now),
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

/** The same decision, refused because the counter is blocked for `leftMillis` more. */
export function blockedDecision(decision: Decision, leftMillis: number): Decision {
  const retryAfterMillis = Math.max(leftMillis, decision.retryAfterMillis);
  return { ...decision, allowed: false, reason: 'blocked', retryAfterMillis };
}
