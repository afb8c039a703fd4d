import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { RateLimitGuard } from './rate-limit.guard.js';

/**
 * What `@RateLimit` binds to its handler: it passes on to the one guard of the module. So a
 * decorated handler is guarded even where no global guard reaches; where both run, the guard
 * counts once.
 */
@Injectable()
export class RateLimitBinding implements CanActivate {
  constructor(@Inject(RateLimitGuard) private readonly guard: RateLimitGuard) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return this.guard.canActivate(context);
  }
}
