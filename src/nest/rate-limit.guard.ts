import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import { HttpTransport } from './http.transport.js';
import type { Settings } from './settings.js';
import { SETTINGS } from './tokens.js';
import { Warnings } from './warnings.js';

/**
 * Decides before the handler runs: lets in, or throws the refusal of the transport. Bound
 * globally by the module; however often it runs for one attempt, it counts once.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(HttpTransport) private readonly http: HttpTransport,
    @Inject(Warnings) private readonly warnings: Warnings,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { mode, skip } = this.settings;
    if (mode === 'off') return true;
    if (context.getType() !== 'http') return this.letThrough(context);
    if (!skip) return this.http.admit(context);
    const skipped: MaybePromise<boolean> = skip(context);
    return andThen(skipped, (yes) => yes === true || this.http.admit(context));
  }

  private letThrough(context: ExecutionContext): boolean {
    const type = context.getType<string>();
    const text = `Contexts of type "${type}" are not limited: they are let through`;
    this.warnings.once(`context ${type}`, text);
    return true;
  }
}
