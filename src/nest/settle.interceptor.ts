import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { type Observable, tap } from 'rxjs';
import { messageOf } from '../core/fault.js';
import type { Settling } from './admission.js';
import { RateLimitGuardParts } from './rate-limit.guard.js';
import { nameOf } from './request-cost.js';

/**
 * What `@RateLimit` binds to handlers with `settle`, and to no others, since an idle interceptor
 * costs more than the guard: hands on what the handler answered. The answer does not wait for it.
 */
@Injectable()
export class RateLimitSettling implements NestInterceptor {
  constructor(@Inject(RateLimitGuardParts) private readonly parts: RateLimitGuardParts) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { transports, admission } = this.parts;
    const call = transports.callOf(context);
    const settling = call && admission.settling(call);
    if (!settling) return next.handle();
    let result: unknown;
    return next.handle().pipe(
      tap({
        next: (value) => {
          result = value;
        },
        complete: () => void this.settle(settling, context, result),
      }),
    );
  }

  /** Never rejects: the answer is right, whatever becomes of its price. */
  private async settle({ settle, outlay }: Settling, context: ExecutionContext, result: unknown) {
    try {
      const actual = await settle(context, result);
      if (actual !== undefined) outlay.costs(actual);
    } catch (error) {
      const name = nameOf(context);
      const text = `The settle of @RateLimit on ${name} failed, and the estimate stays spent`;
      this.parts.warnings.once(`settle ${name}`, `${text}: ${messageOf(error)}`);
    }
  }
}
