import type { ExecutionContext } from '@nestjs/common';
import { canonicalMethod } from '../core/api-name.js';
import type { ApplicableLimits } from '../core/applicable-limits.js';
import type { CounterPlan } from '../core/counter-plan.js';
import type { Decision, MaybePromise } from '../core/index.js';
import { andThen, isPromise } from '../core/maybe-promise.js';
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
import { leavingOf } from './leaving.js';
import { Outlay } from './outlay.js';
import type { RateLimitService } from './rate-limit.service.js';
import { costOf, type RequestCost } from './request-cost.js';
import type { RequestIdentity } from './request-identity.js';
import type { Settings } from './settings.js';
import type { Taken } from './settlements.js';
import { waits } from './waiting.js';

/** What applies to one handler under one template and method, worked out at its first request. */
interface RoutePlan {
  readonly template: string | undefined;
  readonly method: string;
  readonly limits: ApplicableLimits;
  /** What the handler's decorator says of its cost. */
  readonly cost: RequestCost | undefined;
}

interface HandlerPlans {
  /** Whether the handler may be reached under more than one template. */
  readonly severalTemplates: boolean;
  readonly plans: RoutePlan[];
}

/** Where an attempt is remembered: on the request, as it is one however often the guard runs. */
const ATTEMPT = Symbol.for('nestjs-doorman:attempt');

interface Attempt {
  readonly plan: RoutePlan;
  admitted: MaybePromise<boolean>;
  /** What it took, where that is settled afterwards. */
  outlay: Outlay | undefined;
}

/** An outlay, and who says what it should have been. */
export interface Settling {
  readonly outlay: Outlay;
  readonly settle: NonNullable<RequestCost['settle']>;
}

/** HTTP on Express and Fastify: finds the plan, asks the service, tells the answer. */
export class HttpTransport {
  private readonly plans = new Map<object, Map<object, HandlerPlans>>();

  constructor(
    private readonly service: RateLimitService,
    private readonly catalog: HandlerCatalog,
    private readonly identity: RequestIdentity,
    private readonly settings: Settings,
  ) {}

  /**
   * Whether the request may go on: true at once or by a promise.
   *
   * @throws RateLimitExceededException or RateLimitUnavailableException, or rejects with it, when
   * it may not
   */
  admit(context: ExecutionContext): MaybePromise<boolean> {
    // Not switchToHttp(), which makes an object and three closures.
    const request: HttpRequest = context.getArgByIndex(0);
    const response: HttpResponse = context.getArgByIndex(1);
    const platform = platformOf(response);
    const plan = this.planFor(context, platform, request);
    if (plan.limits.none) return true;
    const earlier: Attempt | undefined = request[ATTEMPT];
    if (earlier?.plan === plan) return earlier.admitted;
    const attempt: Attempt = { plan, admitted: false, outlay: undefined };
    const cost = costOf(plan.cost, context);
    const decided = isPromise(cost)
      ? cost.then((one) => this.decide(attempt, one, platform, request, context))
      : this.decide(attempt, cost, platform, request, context);
    attempt.admitted = andThen(decided, (decision) => this.tell(decision, platform, response));
    request[ATTEMPT] = attempt;
    return attempt.admitted;
  }

  /**
   * What the latest attempt of a request took, where its decorator settles that. Handed out once:
   * class and handler may both have bound who asks.
   */
  settling(context: ExecutionContext): Settling | undefined {
    const attempt: Attempt | undefined = context.getArgByIndex(0)[ATTEMPT];
    if (!attempt?.outlay || !attempt.plan.cost?.settle) return undefined;
    const settling = { settle: attempt.plan.cost.settle, outlay: attempt.outlay };
    attempt.outlay = undefined;
    return settling;
  }

  private decide(
    attempt: Attempt,
    cost: number,
    platform: HttpPlatform,
    request: HttpRequest,
    context: ExecutionContext,
  ): MaybePromise<Decision> {
    const { limits } = attempt.plan;
    const api = limits.api.name;
    return andThen(this.identity.userId(request, context), (userId) => {
      const plans = limits.plansFor(userId);
      const leaving = plans.some(waits) ? () => leavingOf(context.getArgByIndex(1)) : undefined;
      const keep =
        attempt.plan.cost?.settle || plans.some(countsOutcomes)
          ? (taken: Taken) => {
              attempt.outlay = new Outlay(taken);
              attempt.outlay.watch(platform.raw(context.getArgByIndex(1)));
            }
          : undefined;
      const ways = { leaving, keep };
      if (userId !== undefined && !plans.some(countsByMoreThanUser)) {
        return this.service.decideFor(plans, { userId, address: undefined, api }, cost, ways);
      }
      return andThen(this.identity.address(request, context, platform), (address) =>
        this.service.decideFor(plans, { userId, address, api }, cost, ways),
      );
    });
  }

  /**
   * Headers on every answer; the exception on a refusal. Without the store there are none that tell
   * the limit: what is left of it is not known, and a share of this process is not the policy.
   */
  private tell(decision: Decision, platform: HttpPlatform, response: HttpResponse): boolean {
    if (decision.limit === Number.POSITIVE_INFINITY) return true;
    for (const dialect of decision.degraded ? [] : this.settings.dialects) {
      const headers = dialect(decision);
      for (const name in headers) platform.setHeader(response, name, headers[name]!);
    }
    if (decision.allowed) return true;
    const seconds = retryAfter(decision);
    if (seconds !== undefined) platform.setHeader(response, 'Retry-After', seconds);
    platform.setHeader(response, 'Cache-Control', 'no-store');
    throw createRefusal(decision);
  }

  /**
   * By class, handler, method and template: one handler can serve several. The template is read
   * only where there is more than one, since Fastify makes a new object for it each time.
   */
  private planFor(context: ExecutionContext, platform: HttpPlatform, request: HttpRequest) {
    const method = platform.method(request);
    const known = this.plans.get(context.getClass())?.get(context.getHandler());
    if (known) {
      const template = known.severalTemplates ? platform.template(request) : undefined;
      for (const plan of known.plans) {
        if (plan.method !== method) continue;
        if (!known.severalTemplates || plan.template === template) return plan;
      }
    }
    return this.newPlan(context, method, platform.template(request));
  }

  private newPlan(context: ExecutionContext, method: string, template: string | undefined) {
    const entry = this.catalog.entry(context.getClass(), context.getHandler());
    const name = template === undefined ? entry.place : canonicalTemplate(template);
    const api = { method: canonicalMethod(method), name };
    const limits = this.service.limitsOf(entry.limits, api);
    const plan = { template, method, limits, cost: entry.cost };
    const severalTemplates = new Set(entry.routes.map((route) => route.name)).size !== 1;
    const handlers = getOrAdd(this.plans, context.getClass(), () => new Map());
    const make = (): HandlerPlans => ({ severalTemplates, plans: [] });
    getOrAdd(handlers, context.getHandler(), make).plans.push(plan);
    return plan;
  }
}

/** Whether the address may be needed although the user is known. */
function countsByMoreThanUser({ by }: CounterPlan): boolean {
  return by.some((dimension) => dimension !== 'user' && dimension !== 'api');
}

/** Whether it is known only afterwards if the request stays counted. */
function countsOutcomes({ rule }: CounterPlan): boolean {
  return rule.count !== 'all';
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
