import type { ExecutionContext } from '@nestjs/common';
import type { Decision } from '../core/index.js';
import { exposedHeaders } from '../http/exposed-headers.js';
import { guarded, HEADER_DIALECTS, type HeaderDialect } from '../http/headers/index.js';
import { retryAfter } from '../http/retry-after.js';
import { createRefusal } from './exceptions.js';
import type { HttpPlatform, HttpResponse } from './http-platform.js';
import { type RefusalBodies, refusalBodies } from './refusal-bodies.js';
import type { Settings } from './settings.js';
import type { Warnings } from './warnings.js';

const EXPOSE = 'Access-Control-Expose-Headers';

type AnswerSettings = Pick<Settings, 'headers' | 'refusal' | 'exposeHeaders'>;

/** Tells decisions over HTTP. */
export class HttpAnswer {
  private readonly dialects: readonly HeaderDialect[];
  private readonly bodies: RefusalBodies;
  private readonly exposes: boolean;

  constructor(settings: AnswerSettings, warnings: Warnings) {
    this.exposes = settings.exposeHeaders;
    this.bodies = refusalBodies(settings.refusal, warnings);
    this.dialects = settings.headers.map((one, i) => {
      if (typeof one === 'string') return HEADER_DIALECTS[one];
      return guarded(one, (did) =>
        warnings.once(`headers ${i}`, `A function of the option headers ${did}; left out`),
      );
    });
  }

  /**
   * Headers on every answer; the exception on a refusal. Without the store there are none that tell
   * the limit: what is left of it is not known, and a share of this process is not the policy.
   *
   * @param context for a refusal's body by a function of the application
   * @throws RateLimitExceededException or RateLimitUnavailableException
   */
  tell(
    decision: Decision,
    platform: HttpPlatform,
    response: HttpResponse,
    context?: ExecutionContext,
  ): true {
    if (decision.limit === Number.POSITIVE_INFINITY) return true;
    this.tellHeaders(decision, platform, response);
    if (decision.allowed) return true;
    const seconds = retryAfter(decision);
    if (seconds !== undefined) platform.setHeader(response, 'Retry-After', seconds);
    platform.setHeader(response, 'Cache-Control', 'no-store');
    // Nest's filter keeps a type that is there, and has none of its own for objects.
    const { mediaType } = this.bodies;
    if (mediaType !== undefined) platform.setHeader(response, 'Content-Type', mediaType);
    throw createRefusal(decision, this.bodies.of?.(decision, context));
  }

  /** The headers that tell the limit, on an answer whatever it is. */
  tellHeaders(decision: Decision, platform: HttpPlatform, response: HttpResponse): void {
    const told: string[] | undefined = this.exposes ? [] : undefined;
    for (const dialect of decision.degraded ? [] : this.dialects) {
      const headers = dialect(decision);
      for (const name in headers) platform.setHeader(response, name, headers[name]!);
      told?.push(...Object.keys(headers));
    }
    if (told) expose([...told, 'Retry-After'], platform, response);
  }

  /** Takes back what was told of an earlier decision: another one counts. */
  untell(decision: Decision, platform: HttpPlatform, response: HttpResponse): void {
    if (decision.limit === Number.POSITIVE_INFINITY || decision.degraded) return;
    for (const dialect of this.dialects) {
      for (const name in dialect(decision)) platform.removeHeader(response, name);
    }
  }
}

function expose(names: readonly string[], platform: HttpPlatform, response: HttpResponse): void {
  const present = platform.getHeader(response, EXPOSE);
  platform.setHeader(response, EXPOSE, exposedHeaders(present, names));
}
