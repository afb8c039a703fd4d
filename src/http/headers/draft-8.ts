/*
 * draft-ietf-httpapi-ratelimit-headers-08, structured fields:
 *
 *   RateLimit-Policy: "default";q=5;w=10
 *   RateLimit: "default";r=4;t=10
 *
 * As the current draft writes it, but that t is the seconds until the quota is as good as new, not
 * until there is more. The optional pk, which tells whose counter it is, is left out: a decision
 * does not say whose it is, and an answer need not.
 */
import { type Decision, rulesOf } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';
import { integer, itemOf } from './named-items.js';

export function draft8Headers(decision: Decision): Record<string, string> {
  const policies: string[] = [];
  const limits: string[] = [];
  for (const rule of rulesOf(decision)) {
    const { name, policy } = itemOf(rule.name, rule);
    policies.push(policy);
    limits.push(`${name};r=${integer(rule.remaining)};t=${secondsUp(rule.resetAfterMillis)}`);
  }
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: limits.join(', ') };
}
