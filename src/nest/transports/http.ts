import type { ExecutionContext } from '@nestjs/common';
import type { Decision } from '../../core/index.js';
import type { AttemptHolder } from '../attempt.js';
import type { HttpAnswer } from '../http-answer.js';
import {
  type HttpPlatform,
  type HttpRequest,
  type HttpResponse,
  platformOf,
} from '../http-platform.js';
import type { Outlay } from '../outlay.js';
import type { Leaving } from '../waiting.js';
import type { Call, ProxyTrust } from './call.js';
import { leavingOf } from './leaving.js';

/** A request over HTTP, on Express or Fastify; also one for server-sent events. */
export class HttpCall implements Call {
  readonly request: HttpRequest;
  private readonly response: HttpResponse;
  private readonly platform: HttpPlatform;

  constructor(
    readonly context: ExecutionContext,
    private readonly answer: HttpAnswer,
  ) {
    // Not switchToHttp(), which makes an object and three closures.
    this.request = context.getArgByIndex(0);
    this.response = context.getArgByIndex(1);
    this.platform = platformOf(this.response);
  }

  /** A request is one attempt however often the guard runs. */
  get holder(): AttemptHolder {
    return this.request;
  }

  get ownHolder(): AttemptHolder {
    return this.request;
  }

  method(): string {
    return this.platform.method(this.request);
  }

  template(): string | undefined {
    return this.platform.template(this.request);
  }

  principal(): unknown {
    return this.request.user;
  }

  /** The framework's own, which believes proxies as far as it was told to. */
  address(): unknown {
    return this.request.ip;
  }

  isGone(): boolean {
    return this.request.socket?.destroyed === true;
  }

  forwarded(): ProxyTrust | undefined {
    const isForwarded = this.request.headers?.['x-forwarded-for'] !== undefined;
    return isForwarded ? this.platform.trust(this.request) : undefined;
  }

  leaving(): Leaving {
    return leavingOf(this.platform.raw(this.response));
  }

  watch(outlay: Outlay): boolean {
    outlay.watch(this.platform.raw(this.response));
    return true;
  }

  tell(decision: Decision): true {
    return this.answer.tell(decision, this.platform, this.response, this.context);
  }

  untell(decision: Decision): void {
    this.answer.untell(decision, this.platform, this.response);
  }
}
