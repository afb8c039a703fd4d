import type { Decision } from '../core/decision.js';
import { secondsUp } from './seconds.js';

/**
 * The value of `Retry-After` (RFC 9110, 10.2.3) in delta seconds: whole, at least 1, enough for
 * every rule that refused; undefined when no waiting helps.
 */
export function retryAfter({ retryAfterMillis }: Decision): string | undefined {
  if (retryAfterMillis === Number.POSITIVE_INFINITY) return undefined;
  return String(Math.max(1, secondsUp(retryAfterMillis)));
}
