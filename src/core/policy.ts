import { Faults, show } from './fault.js';
import { Rule } from './rule.js';
import type { RuleObject } from './rule-fields.js';
import { readRuleObject } from './rule-object.js';
import { readRuleText } from './rule-text.js';
import type { CheckedRule } from './rule-types.js';

/** What stands for one or several rules that decide together. */
export type PolicySource =
  | string
  | RuleObject
  | Rule
  | Policy
  | readonly (string | RuleObject | Rule)[];

/** One or several rules that decide together: all allow, or none is spent. Immutable. */
export class Policy {
  readonly rules: readonly Rule[];

  /** @throws RangeError without a rule */
  constructor(rules: readonly Rule[]) {
    if (rules.length === 0) throw new RangeError('A policy has at least one rule');
    this.rules = Object.freeze([...rules]);
    Object.freeze(this);
  }

  /**
   * Reads rules joined by `&`.
   *
   * @throws RateLimitConfigError with every fault of the text
   */
  static parse<const T extends string>(text: T & CheckedRule<T>): Policy {
    return Policy.of(text);
  }

  /**
   * Makes a policy of text, an object, a rule, or a list of them.
   *
   * @throws RateLimitConfigError with every fault
   */
  static of(source: PolicySource): Policy {
    const faults = new Faults();
    const policy = readPolicy(source, 'a policy', faults);
    faults.throwIfAny();
    return policy!;
  }

  /** Whether one of its rules is the operator's last word. */
  get final(): boolean {
    return this.rules.some((rule) => rule.final);
  }

  /** Text that parses to an equal policy. */
  toString(): string {
    return this.rules.join(' & ');
  }
}

/**
 * Reads what stands for a policy; each fault is added to `faults`.
 *
 * @returns the policy, or undefined when anything was wrong
 */
export function readPolicy(source: unknown, place: string, faults: Faults): Policy | undefined {
  if (source instanceof Policy) return source;
  const before = faults.list.length;
  const rules = readRules(source, place, faults);
  if (rules.length === 0 && faults.list.length === before) {
    faults.add({ code: 'RULE_SYNTAX', place, given: show(source), problem: 'no rule is given' });
  }
  return faults.list.length > before ? undefined : new Policy(rules);
}

function readRules(source: unknown, place: string, faults: Faults): Rule[] {
  if (source instanceof Rule) return [source];
  if (Array.isArray(source)) return source.flatMap((part) => readRules(part, place, faults));
  const parts =
    typeof source === 'string'
      ? source.split('&').map((text) => readRuleText(text.trim(), place, faults))
      : [readRuleObject(source, place, faults)];
  return parts.flatMap((part) => (part === undefined ? [] : [new Rule(part)]));
}
