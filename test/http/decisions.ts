import { type Decision, joinDecisions, type RuleDecision } from '../../src/core/decision.js';

/** What one rule of several says. */
export const rule = (given: Partial<RuleDecision> = {}): RuleDecision => ({
  name: 'default',
  allowed: true,
  limit: 5,
  windowMillis: 10_000,
  remaining: 4,
  retryAfterMillis: 0,
  resetAfterMillis: 9000,
  moreAfterMillis: 2000,
  ...given,
});

/** The decision of one rule. */
export const decision = (given: Partial<RuleDecision> = {}): Decision => {
  const { name: policy, ...standing } = rule(given);
  return { ...standing, policy, reason: undefined, rules: undefined };
};

/** The decision of one rule or several. */
export const joined = (...given: readonly Partial<RuleDecision>[]): Decision =>
  given.length === 1 ? decision(given[0]) : joinDecisions(given.map(rule));
