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
import { type Decision, rulesOf } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';
import { structuredString } from '../structured-string.js';

export function ietfHeaders(decision: Decision): Record<string, string> {
  const rules = rulesOf(decision);
  const policies = rules.map(({ name, limit, windowMillis }) => {
    const window = windowMillis < 1000 ? '' : `;w=${secondsUp(windowMillis)}`;
    return `${structuredString(name)};q=${limit}${window}`;
  });
  const limits = rules.map(({ name, remaining, moreAfterMillis }) => {
    return `${structuredString(name)};r=${remaining};t=${secondsUp(moreAfterMillis)}`;
  });
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: limits.join(', ') };
}
