import type { PlacedPolicy } from './counter-plan.js';
import type { Faults } from './fault.js';

/** Names made up as they go are forgotten at some point: their rules are checked no more. */
const MAX_NAMES = 100_000;

/**
 * The rules that have a name. Rules of one name share one counter, so they have to be the same
 * rule; and within one policy a name stands once, or a request would spend twice from one counter.
 */
export class NamedRules {
  private readonly known = new Map<string, { text: string; place: string }>();

  /** Adds a fault for each name of the policy that is taken by another rule. */
  check({ policy, place }: PlacedPolicy, faults: Faults): void {
    const here = new Set<string>();
    for (const rule of policy.rules) {
      if (rule.name === undefined) continue;
      const text = rule.toString();
      const problem = this.problem(rule.name, text, here);
      if (problem) faults.add({ code: 'NAME_CONFLICT', place, given: text, problem });
      here.add(rule.name);
    }
  }

  add({ policy, place }: PlacedPolicy): void {
    for (const rule of policy.rules) {
      if (rule.name === undefined || this.known.has(rule.name)) continue;
      if (this.known.size < MAX_NAMES) this.known.set(rule.name, { text: rule.toString(), place });
    }
  }

  private problem(name: string, text: string, here: ReadonlySet<string>): string | undefined {
    if (here.has(name)) return `the name "${name}" stands twice in one policy`;
    const first = this.known.get(name);
    if (!first || first.text === text) return undefined;
    return `the name "${name}" is taken by ${first.text} at ${first.place}; equal names share a counter and need equal rules`;
  }
}

/** Adds a fault for each name that stands for different rules. */
export function checkNames(policies: readonly PlacedPolicy[], faults: Faults): void {
  const names = new NamedRules();
  for (const placed of policies) {
    names.check(placed, faults);
    names.add(placed);
  }
}
