import { HttpException } from '@nestjs/common';
import type { Decision } from '../core/index.js';
import { refusalBody } from '../http/refusal-body.js';
import { unavailableBody } from '../http/unavailable-body.js';

/** What a refusal answers: an object as it is; text as the message that Nest makes a body of. */
export type AnyBody = object | string;

/** Else Nest makes a message of the class' name, which tells filters nothing. */
function hasMessage(body: AnyBody): boolean {
  return typeof body === 'string' || 'message' in body;
}

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

  constructor(decision: Decision, body: AnyBody = refusalBody(decision)) {
    super(body, 429);
    if (!hasMessage(body)) this.message = refusalBody(decision).message;
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

  constructor(decision: Decision, body: AnyBody = unavailableBody(decision)) {
    super(body, 503);
    if (!hasMessage(body)) this.message = unavailableBody(decision).message;
    this.decision = decision;
    this.policy = decision.policy;
    this.retryAfterMillis = decision.retryAfterMillis;
  }
}

type Refusal = RateLimitExceededException | RateLimitUnavailableException;

/** The exception of a refusal over HTTP. */
export function createRefusal(decision: Decision, body?: AnyBody): Refusal {
  return withoutStack(() =>
    decision.reason === 'store'
      ? new RateLimitUnavailableException(decision, body)
      : new RateLimitExceededException(decision, body),
  );
}

/** The same for GraphQL: its hint stands in `extensions`, which drivers copy into the error. */
export function createGraphqlRefusal(
  decision: Decision,
): Refusal & { readonly extensions: object } {
  const isStore = decision.reason === 'store';
  // With a status in the body, Apollo's driver would put a code of its own in place of ours.
  const { statusCode: _, ...body } = isStore ? unavailableBody(decision) : refusalBody(decision);
  const code = isStore ? 'SERVICE_UNAVAILABLE' : 'TOO_MANY_REQUESTS';
  const { policy } = decision;
  const hint = 'retryAfterMillis' in body ? { retryAfterMillis: body.retryAfterMillis } : {};
  const refusal = withoutStack(() =>
    isStore
      ? new RateLimitUnavailableException(decision, body)
      : new RateLimitExceededException(decision, body),
  );
  return Object.assign(refusal, { extensions: { code, policy, ...hint } });
}

/**
 * Makes an exception without a stack: a refusal is an answer and no error of the program, and under a
 * flood the trace would be most of its price.
 */
export function withoutStack<T>(create: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return create();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
