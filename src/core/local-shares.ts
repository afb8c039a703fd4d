/*
 * One process's share of a rule that `instances` processes have together: max(1, ⌊x / instances⌋)
 * of limit and burst.
 *
 * A share has the identity of its counter: when the number of instances changes, what was counted
 * stays.
 *
 * It is exact wherever the rule is, but for a bucket whose share has no large divisor in common
 * with the window any more. Then the same rate is written another way, the whole limit in
 * `instances` windows: gcd(limit, n × window) is at least g = gcd(limit, window), so twice the
 * capacity, in units of that bucket, is at most 2 × (burst / n) × n × window / g, which the rule
 * has as well.
 */
import { algorithmKind, createAlgorithm } from './algorithms/index.js';
import { EXACT_BOUND } from './algorithms/integers.js';
import type { CounterPlan } from './counter-plan.js';
import { Rule } from './rule.js';

interface Share {
  readonly instances: number;
  readonly plan: CounterPlan;
}

/** Shares of plans. That of the present number of instances is kept, as long as the plan is. */
export class LocalShares {
  private readonly shares = new WeakMap<CounterPlan, Share>();

  /** @param instances a whole number, 1 or more */
  of(plan: CounterPlan, instances: number): CounterPlan {
    const known = this.shares.get(plan);
    if (known?.instances === instances) return known.plan;
    const rule = shareOf(plan.rule, instances);
    const share: CounterPlan = {
      ...plan,
      rule,
      algorithm: createAlgorithm(rule.algorithm, rule),
      // Of its own: the plan's is the note of the store that shares the limit.
      note: { owner: undefined, content: undefined },
    };
    this.shares.set(plan, { instances, plan: share });
    return share;
  }
}

function shareOf(rule: Rule, instances: number): Rule {
  const part = (whole: number) => Math.max(1, Math.floor(whole / instances));
  const { takesBurst } = algorithmKind(rule.algorithm)!;
  const burst = takesBurst ? part(rule.burst ?? rule.limit) : undefined;
  const plain = new Rule({ ...rule, limit: part(rule.limit), burst });
  if (isExact(plain)) return plain;
  const stretched = new Rule({ ...rule, windowMillis: rule.windowMillis * instances, burst });
  // Past both: windows of millennia. The whole rule is still a limit.
  return isExact(stretched) ? stretched : rule;
}

function isExact(rule: Rule): boolean {
  if (!Number.isSafeInteger(rule.windowMillis)) return false;
  return algorithmKind(rule.algorithm)!.largestInteger(rule) < EXACT_BOUND;
}
