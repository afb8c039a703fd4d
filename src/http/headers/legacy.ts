/*
 * The headers that were common before there was a draft, for clients that know nothing else. Of
 * several rules they tell the one that decides. Reset is in seconds from now: many services tell
 * an epoch time there, but clocks of clients differ.
 */
import type { Decision } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';

export function legacyHeaders(decision: Decision): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(decision.limit),
    'X-RateLimit-Remaining': String(decision.remaining),
    'X-RateLimit-Reset': String(secondsUp(decision.resetAfterMillis)),
  };
}
