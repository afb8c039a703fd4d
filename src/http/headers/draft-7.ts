/*
 * draft-ietf-httpapi-ratelimit-headers-07, structured fields; all state in one dictionary:
 *
 *   RateLimit-Policy: 5;w=10
 *   RateLimit: limit=5, remaining=4, reset=10
 *
 * The policies of an answer stand in one list. The state is that of the expiring limit alone, the
 * one that is used up first; reset is the seconds until that one is as good as new.
 */
import type { Decision } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';
import { expiringLimit, quotaPolicies } from './expiring-limit.js';
import { integer } from './named-items.js';

export function draft7Headers(decision: Decision): Record<string, string> {
  const { limit, remaining, resetAfterMillis } = expiringLimit(decision);
  const left = `limit=${integer(limit)}, remaining=${integer(remaining)}`;
  return {
    'RateLimit-Policy': quotaPolicies(decision),
    RateLimit: `${left}, reset=${secondsUp(resetAfterMillis)}`,
  };
}
