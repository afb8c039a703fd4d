import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import type { Admission } from './admission.js';
import type { CurrentRules } from './current-rules.js';
import type { Settings } from './settings.js';
import type { Transports } from './transports/index.js';
import type { Warnings } from './warnings.js';

/**
 * What a guard works with: for subclasses with a constructor of their own, which hand it on to
 * `super`.
 */
export class RateLimitGuardParts {
  constructor(
    readonly transports: Transports,
    readonly admission: Admission,
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
    const { off, skip, transports, admission } = this.parts;
    if (off) return true;
    const call = transports.callOf(context);
    if (!call) return this.letThrough(context);
    if (!skip) return admission.admit(call);
    const skipped: MaybePromise<boolean> = skip(context);
    return andThen(skipped, (yes) => yes === true || admission.admit(call));
  }

  private letThrough(context: ExecutionContext): boolean {
    const type = context.getType<string>();
    const text = `Contexts of type "${type}" are not limited: they are let through`;
    this.parts.warnings.once(`context ${type}`, text);
    return true;
  }
}
