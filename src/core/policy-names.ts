import type { PlacedPolicy } from './counter-plan.js';
import type { Faults } from './fault.js';

/**
 * Rules of one name share one counter, so they have to be the same rule; and within one policy a
 * name stands once, or a request would spend twice from one counter.
 */
export function checkNames(policies: readonly PlacedPolicy[], faults: Faults): void {
  const known = new Map<string, { text: string; place: string }>();
  for (const { policy, place } of policies) {
    const here = new Set<string>();
    for (const rule of policy.rules) {
      if (rule.name === undefined) continue;
      const text = rule.toString();
      const first = known.get(rule.name);
      const problem = here.has(rule.name)
        ? `the name "${rule.name}" stands twice in one policy`
        : first && first.text !== text
          ? `the name "${rule.name}" is taken by ${first.text} at ${first.place}; equal names share a counter and need equal rules`
          : undefined;
      if (problem) faults.add({ code: 'NAME_CONFLICT', place, given: text, problem });
      here.add(rule.name);
      if (!first) known.set(rule.name, { text, place });
    }
  }
}
