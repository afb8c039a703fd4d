import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import type { CurrentRules } from './current-rules.js';
import type { HttpTransport } from './http.transport.js';
import type { Settings } from './settings.js';
import type { Warnings } from './warnings.js';

/**
 * What a guard works with: for subclasses with a constructor of their own, which hand it on to
 * `super`.
 */
export class RateLimitGuardParts {
  constructor(
    readonly http: HttpTransport,
    readonly warnings: Warnings,
    readonly skip: Settings['skip'],
    private readonly rules: CurrentRules,
  ) {}

  /** Whether nothing is limited. */
  get off(): boolean {
    return this.rules.now.mode === 'off';
  }
}

/**
 * Decides before the handler runs: lets in, or throws the refusal of the transport. Bound
 * globally by the module; however often it runs for one attempt, it counts once.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(@Inject(RateLimitGuardParts) private readonly parts: RateLimitGuardParts) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { off, skip, http } = this.parts;
    if (off) return true;
    if (context.getType() !== 'http') return this.letThrough(context);
    if (!skip) return http.admit(context);
    const skipped: MaybePromise<boolean> = skip(context);
    return andThen(skipped, (yes) => yes === true || http.admit(context));
  }

  private letThrough(context: ExecutionContext): boolean {
    const type = context.getType<string>();
    const text = `Contexts of type "${type}" are not limited: they are let through`;
    this.parts.warnings.once(`context ${type}`, text);
    return true;
  }
}
