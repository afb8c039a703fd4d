import type { ExecutionContext } from '@nestjs/common';
import { canonicalMethod } from '../core/api-name.js';
import type { ApplicableLimits } from '../core/applicable-limits.js';
import type { CounterPlan } from '../core/counter-plan.js';
import type { Decision, MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import { retryAfter } from '../http/retry-after.js';
import { canonicalTemplate } from '../http/template.js';
import { createRefusal } from './exceptions.js';
import type { HandlerCatalog } from './handler-catalog.js';
import {
  type HttpPlatform,
  type HttpRequest,
  type HttpResponse,
  platformOf,
} from './http-platform.js';
import type { RateLimitService } from './rate-limit.service.js';
import type { RequestIdentity } from './request-identity.js';
import type { Settings } from './settings.js';

/** What applies to one handler under one template and method, worked out at its first request. */
interface RoutePlan {
  readonly template: string | undefined;
  readonly method: string;
  readonly limits: ApplicableLimits;
}

/** Where an attempt is remembered: on the request, as it is one however often the guard runs. */
const ATTEMPT = Symbol.for('nestjs-doorman:attempt');

interface Attempt {
  readonly plan: RoutePlan;
  readonly admitted: MaybePromise<boolean>;
}

/** HTTP on Express and Fastify: finds the plan, asks the service, tells the answer. */
export class HttpTransport {
  private readonly plans = new Map<object, Map<object, RoutePlan[]>>();

  constructor(
    private readonly service: RateLimitService,
    private readonly catalog: HandlerCatalog,
    private readonly identity: RequestIdentity,
    private readonly settings: Settings,
  ) {}

  /**
   * Whether the request may go on: true at once or by a promise.
   *
   * @throws RateLimitExceededException, or rejects with it, when it may not
   */
  admit(context: ExecutionContext): MaybePromise<boolean> {
    const http = context.switchToHttp();
    const request: HttpRequest = http.getRequest();
    const response: HttpResponse = http.getResponse();
    const platform = platformOf(response);
    const plan = this.planFor(context, platform, request);
    if (plan.limits.none) return true;
    const earlier: Attempt | undefined = request[ATTEMPT];
    if (earlier?.plan === plan) return earlier.admitted;
    const decided = this.decide(plan, platform, request, context);
    const admitted = andThen(decided, (decision) => this.tell(decision, platform, response));
    request[ATTEMPT] = { plan, admitted } satisfies Attempt;
    return admitted;
  }

  private decide(
    { limits }: RoutePlan,
    platform: HttpPlatform,
    request: HttpRequest,
    context: ExecutionContext,
  ): MaybePromise<Decision> {
    const api = limits.api.name;
    return andThen(this.identity.userId(request, context), (userId) => {
      const plans = limits.plansFor(userId);
      if (userId !== undefined && !plans.some(countsByMoreThanUser)) {
        return this.service.decideFor(plans, { userId, address: undefined, api });
      }
      return andThen(this.identity.address(request, context, platform), (address) =>
        this.service.decideFor(plans, { userId, address, api }),
      );
    });
  }

  /** Headers on every answer; the exception on a refusal. */
  private tell(decision: Decision, platform: HttpPlatform, response: HttpResponse): boolean {
    if (decision.limit === Number.POSITIVE_INFINITY) return true;
    for (const dialect of this.settings.dialects) {
      const headers = dialect(decision);
      for (const name in headers) platform.setHeader(response, name, headers[name]!);
    }
    if (decision.allowed) return true;
    const seconds = retryAfter(decision);
    if (seconds !== undefined) platform.setHeader(response, 'Retry-After', seconds);
    platform.setHeader(response, 'Cache-Control', 'no-store');
    throw createRefusal(decision);
  }

  /** By class, handler, template and method: one handler can serve several paths and methods. */
  private planFor(context: ExecutionContext, platform: HttpPlatform, request: HttpRequest) {
    const type = context.getClass();
    const handler = context.getHandler();
    const template = platform.template(request);
    const method = platform.method(request);
    const handlers = getOrAdd(this.plans, type, () => new Map<object, RoutePlan[]>());
    const plans = getOrAdd(handlers, handler, (): RoutePlan[] => []);
    for (const plan of plans) {
      if (plan.template === template && plan.method === method) return plan;
    }
    const { limits, place } = this.catalog.entry(type, handler);
    const name = template === undefined ? place : canonicalTemplate(template);
    const api = { method: canonicalMethod(method), name };
    const plan = { template, method, limits: this.service.limitsOf(limits, api) };
    plans.push(plan);
    return plan;
  }
}

/** Whether the address may be needed although the user is known. */
function countsByMoreThanUser({ by }: CounterPlan): boolean {
  return by.some((dimension) => dimension !== 'user' && dimension !== 'api');
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
