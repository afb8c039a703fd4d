import type { ExecutionContext } from '@nestjs/common';
import type { MaybePromise, TierAnswer } from '../core/index.js';

/**
 * Says which tier a user has, or which rules of his own; undefined for none. Throwing is a failure:
 * the last known answer is used.
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
