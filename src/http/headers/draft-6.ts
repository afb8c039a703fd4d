/*
 * draft-ietf-httpapi-ratelimit-headers-06, structured fields; a header for each number:
 *
 *   RateLimit-Policy: 5;w=10
 *   RateLimit-Limit: 5
 *   RateLimit-Remaining: 4
 *   RateLimit-Reset: 10
 *
 * They say what draft 7 says in one header.
 */
import type { Decision } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';
import { expiringLimit, quotaPolicies } from './expiring-limit.js';
import { integer } from './named-items.js';

export function draft6Headers(decision: Decision): Record<string, string> {
  const { limit, remaining, resetAfterMillis } = expiringLimit(decision);
  return {
    'RateLimit-Policy': quotaPolicies(decision),
    'RateLimit-Limit': String(integer(limit)),
    'RateLimit-Remaining': String(integer(remaining)),
    'RateLimit-Reset': String(secondsUp(resetAfterMillis)),
  };
}
