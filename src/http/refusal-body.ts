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
  const refused = { statusCode: 429, error: 'Too Many Requests' } as const;
  if (reason === 'never' || retryAfterMillis === Number.POSITIVE_INFINITY) {
    return { ...refused, message: 'This request costs more than its limit ever allows', policy };
  }
  const seconds = secondsUp(retryAfterMillis);
  const message = `Too many requests, try again in ${seconds} s`;
  return { ...refused, message, policy, retryAfterMillis };
}
