import type { Counter, CounterPlan } from '../core/counter-plan.js';
import type { Standing } from '../core/decision.js';
import type { Decision } from '../core/index.js';

const STEPS = 10;

/** Labels that are told apart; more would be names made up as they go. */
const MAX_LABELS = 1000;
const OTHER = 'other';

/** How near callers came to the limit of one policy. */
export interface PolicyUtilisation {
  /** As decisions and headers name it; `other` is all that came after the first 1,000 names. */
  readonly policy: string;
  /** How many decisions were noted: the sum of `tenths`. */
  readonly decisions: number;
  /**
   * How many of them left so much of the capacity used: below 10 % first, 90 % and more last, a
   * used up one too.
   */
  readonly tenths: readonly number[];
}

/** A rule that a request brought to the share of its limit from which on one is warned. */
export interface NearLimit {
  readonly policy: string;
  /** How much of the limit is used, this request included. */
  readonly used: number;
  readonly limit: number;
}

/**
 * Counts how near callers come to their limits: a histogram for each policy, over all its counters,
 * from the start of the process.
 *
 * Used is what is not remaining after the decision, of a refusal too. Remaining is rounded down, so
 * what a bucket or a sliding counter has used is rounded up: a bucket of one token is used up until
 * it is full again. What is given back later stays counted as used.
 */
export class Utilisation {
  /** Plans come and go with rules that are reloaded; none is kept alive for its past. */
  private readonly byPlan = new WeakMap<CounterPlan, Float64Array>();
  private readonly byLabel = new Map<string, Float64Array>();

  /**
   * Notes a decision, for each of its rules. One without limits, or where the store could not be
   * asked, tells nothing of callers and is not noted.
   *
   * @param counters what was decided on, in the order of the decision's rules
   */
  note(counters: readonly Counter[], decision: Decision): void {
    if (!isCounted(decision)) return;
    const { rules } = decision;
    if (rules === undefined) {
      // Not `rulesOf`, which makes a list: this is the way of nearly every request.
      if (counters.length === 1) this.add(counters[0]!.plan, decision.limit, decision.remaining);
      return;
    }
    for (let i = 0; i < counters.length; i++) {
      const rule = rules[i];
      if (rule) this.add(counters[i]!.plan, rule.limit, rule.remaining);
    }
  }

  /** All that was noted so far, by the name of the policy. */
  report(): readonly PolicyUtilisation[] {
    return [...this.byLabel]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([policy, tenths]) => ({
        policy,
        decisions: tenths.reduce((sum, count) => sum + count, 0),
        tenths: [...tenths],
      }));
  }

  private add(plan: CounterPlan, limit: number, remaining: number): void {
    const step = Math.floor(((limit - remaining) * STEPS) / limit);
    const tenths = this.tenthsOf(plan);
    // Whatever a store answers, it is counted somewhere.
    tenths[step > 0 ? Math.min(step, STEPS - 1) : 0]!++;
  }

  private tenthsOf(plan: CounterPlan): Float64Array {
    let tenths = this.byPlan.get(plan);
    if (!tenths) {
      tenths = this.ofLabel(plan.label);
      this.byPlan.set(plan, tenths);
    }
    return tenths;
  }

  private ofLabel(label: string): Float64Array {
    const isKnown = this.byLabel.has(label) || this.byLabel.size < MAX_LABELS;
    const name = isKnown ? label : OTHER;
    let tenths = this.byLabel.get(name);
    if (!tenths) {
      tenths = new Float64Array(STEPS);
      this.byLabel.set(name, tenths);
    }
    return tenths;
  }
}

const NOBODY: readonly NearLimit[] = [];

/**
 * The rules that this request brought to `warnAt` of their limit or beyond: before it they were
 * below. None for a refusal, which takes nothing, for a cost of 0, and where the store could not be
 * asked. A bucket that fills again comes there again, and may be told of many times.
 *
 * @param counters what was decided on, in the order of the decision's rules
 * @param cost what the request took
 * @param warnAt a share of the limit, above 0, at most 1
 */
export function nearLimit(
  counters: readonly Counter[],
  decision: Decision,
  cost: number,
  warnAt: number,
): readonly NearLimit[] {
  if (!decision.allowed || !isCounted(decision)) return NOBODY;
  // A list is made only when somebody is near: this is asked for each request.
  let near: NearLimit[] | undefined;
  const { rules } = decision;
  if (rules === undefined && counters.length !== 1) return NOBODY;
  for (let i = 0; i < counters.length; i++) {
    const standing = rules === undefined ? decision : rules[i];
    if (!standing || !crosses(standing, cost, warnAt)) continue;
    const { limit, remaining } = standing;
    near ??= [];
    near.push({ policy: counters[i]!.plan.label, used: limit - remaining, limit });
  }
  return near ?? NOBODY;
}

/** Shares are compared: 0.07 × 100 is more than 7, and 7 / 100 is 0.07. */
function crosses({ limit, remaining }: Standing, cost: number, warnAt: number): boolean {
  const used = limit - remaining;
  return used / limit >= warnAt && (used - cost) / limit < warnAt;
}

function isCounted({ degraded, reason, limit }: Decision): boolean {
  return !degraded && reason !== 'store' && limit !== Number.POSITIVE_INFINITY;
}
