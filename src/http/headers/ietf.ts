/*
 * draft-ietf-httpapi-ratelimit-headers-11, structured fields (RFC 9651):
 *
 *   RateLimit-Policy: "default";q=5;w=10
 *   RateLimit: "default";r=4;t=2
 *
 * q is the capacity, w the seconds in which it fills, r what is left, t the seconds until r next
 * grows. All policies of an answer stand in one list. `w` has no fractions: below a second it is
 * left out, since 0 would be untrue.
 */
import type { Decision, Standing } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';
import { integer, itemOf } from './named-items.js';

export function ietfHeaders(decision: Decision): Record<string, string> {
  const { rules } = decision;
  if (!rules) {
    const { name, policy } = itemOf(decision.policy, decision);
    return { 'RateLimit-Policy': policy, RateLimit: name + state(decision) };
  }
  let policies = '';
  let limits = '';
  for (const rule of rules) {
    const { name, policy } = itemOf(rule.name, rule);
    const comma = policies === '' ? '' : ', ';
    policies += comma + policy;
    limits += comma + name + state(rule);
  }
  return { 'RateLimit-Policy': policies, RateLimit: limits };
}

function state({ remaining, moreAfterMillis }: Standing): string {
  return `;r=${integer(remaining)};t=${secondsUp(moreAfterMillis)}`;
}
