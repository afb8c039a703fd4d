import type { Decision } from '../core/decision.js';
import { secondsUp } from './seconds.js';

/** The JSON body of a 429. */
export interface RefusalBody {
  readonly statusCode: 429;
  readonly error: 'Too Many Requests';
  readonly message: string;
  /** Which policy refused. */
  readonly policy: string;
  /** The same request is allowed after this; left out when it never will be. */
  readonly retryAfterMillis?: number;
}

export function refusalBody(decision: Decision): RefusalBody {
  const { policy, reason, retryAfterMillis } = decision;
  const never = reason === 'never' || retryAfterMillis === Number.POSITIVE_INFINITY;
  // Two literals: spreading the common part would cost more than all of the rest.
  if (never) {
    return {
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'This request costs more than its limit ever allows',
      policy,
    };
  }
  return {
    statusCode: 429,
    error: 'Too Many Requests',
    message: `Too many requests, try again in ${secondsUp(retryAfterMillis)} s`,
    policy,
    retryAfterMillis,
  };
}
