import { type Decision, type RuleDecision, rulesOf } from '../../core/decision.js';
import { integer, windowOf } from './named-items.js';

/**
 * Drafts 6 and 7 tell the state of one limit, whose three numbers belong together: the one of which
 * the least is left. Of equals it is the one that takes the longest to be as good as new, since what
 * is left has to last that long.
 */
export function expiringLimit(decision: Decision): RuleDecision {
  return rulesOf(decision).reduce((found, rule) => {
    const { remaining, resetAfterMillis } = rule;
    if (remaining !== found.remaining) return remaining < found.remaining ? rule : found;
    return resetAfterMillis > found.resetAfterMillis ? rule : found;
  });
}

/**
 * Their policies, `100;w=60, 1000;w=3600`. They have no names, and no two may have one quota: of
 * those the one with the longest window is told, as the strictest.
 */
export function quotaPolicies(decision: Decision): string {
  const windows = new Map<number, number>();
  for (const { limit, windowMillis } of rulesOf(decision)) {
    const quota = integer(limit);
    windows.set(quota, Math.max(windowMillis, windows.get(quota) ?? 0));
  }
  return [...windows].map(([quota, windowMillis]) => quota + windowOf(windowMillis)).join(', ');
}
