import type { Decision } from '../core/decision.js';
import { secondsUp } from './seconds.js';

/** The JSON body of a 503: the store could not be asked, and the rule denies without it. */
export interface UnavailableBody {
  readonly statusCode: 503;
  readonly error: 'Service Unavailable';
  readonly message: string;
  /** Which policy refused. */
  readonly policy: string;
  /** When it is worth asking again: an estimate, since nobody knows when the store is back. */
  readonly retryAfterMillis: number;
}

export function unavailableBody({ policy, retryAfterMillis }: Decision): UnavailableBody {
  return {
    statusCode: 503,
    error: 'Service Unavailable',
    message: `The limit cannot be checked, try again in ${Math.max(1, secondsUp(retryAfterMillis))} s`,
    policy,
    retryAfterMillis,
  };
}
