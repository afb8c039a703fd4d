import { HttpException } from '@nestjs/common';
import type { Decision } from '../core/index.js';
import { type RefusalBody, refusalBody } from '../http/refusal-body.js';
import { type UnavailableBody, unavailableBody } from '../http/unavailable-body.js';

/**
 * Thrown by the guard for a refused request: a 429 that says which policy refused and when to
 * come back.
 */
export class RateLimitExceededException extends HttpException {
  readonly decision: Decision;
  /** The name of the policy that refused. */
  readonly policy: string;
  /** The same request is allowed after this; `Infinity` when it never will be. */
  readonly retryAfterMillis: number;

  constructor(decision: Decision, body: RefusalBody = refusalBody(decision)) {
    super(body, body.statusCode);
    this.decision = decision;
    this.policy = decision.policy;
    this.retryAfterMillis = decision.retryAfterMillis;
  }
}

/**
 * Thrown by the guard where the store cannot be asked and a rule says `onStoreError=deny`: a 503,
 * since the caller did nothing wrong.
 */
export class RateLimitUnavailableException extends HttpException {
  readonly decision: Decision;
  /** The name of the policy that refused. */
  readonly policy: string;
  /** When it is worth asking again, 1 or more: an estimate. */
  readonly retryAfterMillis: number;

  constructor(decision: Decision, body: UnavailableBody = unavailableBody(decision)) {
    super(body, body.statusCode);
    this.decision = decision;
    this.policy = decision.policy;
    this.retryAfterMillis = decision.retryAfterMillis;
  }
}

/**
 * The exception of a refusal, without a stack: a refusal is an answer and no error of the program,
 * and under a flood the trace would be most of its price.
 */
export function createRefusal(
  decision: Decision,
): RateLimitExceededException | RateLimitUnavailableException {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return decision.reason === 'store'
      ? new RateLimitUnavailableException(decision)
      : new RateLimitExceededException(decision);
  } finally {
    Error.stackTraceLimit = limit;
  }
}
