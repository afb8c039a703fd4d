import type { ExecutionContext, Type } from '@nestjs/common';
import type { MaybePromise, TierAnswer } from '../core/index.js';

/**
 * Says which tier a user has, or which rules of his own; undefined for none. Throwing is a failure:
 * the last known answer is used.
 *
 * Calls of the service about the same user go without a tier when they are made at once; after an
 * `await` they would wait for this very answer, until `tierTimeoutMillis` is over.
 *
 * @param ctx undefined in calls of the service
 */
export type TierOf = (
  userId: string,
  ctx: ExecutionContext | undefined,
) => MaybePromise<TierAnswer>;

/** The same as a provider, which may have others injected: give its class as the option `tierOf`. */
export abstract class TierResolver {
  abstract tierOf(userId: string, ctx: ExecutionContext | undefined): MaybePromise<TierAnswer>;
}

/** Whatever has the method: a class may implement a resolver without extending it. */
export function isResolver(value: unknown): value is TierResolver {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as Partial<TierResolver>).tierOf === 'function';
}

/** Whether it is to be found among the providers, rather than called. */
export function isResolverClass(value: unknown): value is Type<TierResolver> {
  if (typeof value !== 'function') return false;
  // A class that was compiled to a function is known by the method alone.
  const compiled = typeof value.prototype?.tierOf === 'function';
  return compiled || /^class\b/.test(Function.prototype.toString.call(value));
}
