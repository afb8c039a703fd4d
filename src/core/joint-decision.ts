import type { Cells, View } from './algorithms/index.js';
import type { CounterPlan } from './counter-plan.js';
import { askRule, type Decision, decisionOf, joinDecisions, ruleDecisionOf } from './decision.js';

/**
 * Decides by several counters together, each in cells of its own from 0 on: asks all first and
 * takes after, so all spend or none.
 */
export function decideTogether(
  plans: readonly CounterPlan[],
  cells: readonly Cells[],
  now: number,
  cost: number,
  take: boolean,
  view: View,
): Decision {
  if (plans.length === 1) {
    const wait = askRule(plans[0]!, cells[0]!, 0, now, cost, take, view);
    return decisionOf(plans[0]!, wait, view);
  }
  const ask = (plan: CounterPlan, i: number, taking: boolean) =>
    askRule(plan, cells[i]!, 0, now, cost, taking, view);
  const taking = take && plans.every((plan, i) => ask(plan, i, false) === 0);
  const rules = plans.map((plan, i) => ruleDecisionOf(plan, ask(plan, i, taking), view));
  return joinDecisions(rules);
}
