import { canonicalMethod } from '../core/api-name.js';
import type { ApplicableLimits } from '../core/applicable-limits.js';
import { canonicalTemplate } from '../http/template.js';
import type { CurrentRules } from './current-rules.js';
import type { Doors } from './doors.js';
import type { HandlerCatalog } from './handler-catalog.js';
import type { RequestCost } from './request-cost.js';
import type { RulesInForce } from './rules-in-force.js';
import type { Call } from './transports/call.js';

/** What applies to one handler under one template and method, worked out at its first request. */
export interface RoutePlan {
  readonly template: string | undefined;
  readonly method: string | undefined;
  readonly limits: ApplicableLimits;
  /** What the handler's decorator says of its cost. */
  readonly cost: RequestCost | undefined;
  /** Whether guards come after ours, and the second door after them. */
  readonly decidesTwice: boolean;
  /** Whether each call is an attempt of its own, however many of an operation are counted as one. */
  readonly countsEachCall: boolean;
}

interface HandlerPlans {
  /** Whether the handler may be reached under more than one template. */
  readonly severalTemplates: boolean;
  readonly plans: RoutePlan[];
}

/** The plans of all handlers, under the rules in force. */
export class RoutePlans {
  private plans = new Map<object, Map<object, HandlerPlans>>();
  private madeFor: RulesInForce | undefined;

  constructor(
    private readonly rules: CurrentRules,
    private readonly catalog: HandlerCatalog,
    private readonly doors: Doors,
  ) {}

  /**
   * By class, handler, method and template: one handler can serve several. The template is read
   * only where there is more than one, since Fastify makes a new object for it each time.
   */
  planFor(call: Call): RoutePlan {
    const { context } = call;
    if (this.madeFor !== this.rules.now) {
      this.madeFor = this.rules.now;
      this.plans = new Map();
    }
    const method = call.method();
    const known = this.plans.get(context.getClass())?.get(context.getHandler());
    if (known) {
      const template = known.severalTemplates ? call.template() : undefined;
      for (const plan of known.plans) {
        if (plan.method !== method) continue;
        if (!known.severalTemplates || plan.template === template) return plan;
      }
    }
    return this.newPlan(call, method, call.template());
  }

  private newPlan(
    { context }: Call,
    method: string | undefined,
    template: string | undefined,
  ): RoutePlan {
    const [type, handler] = [context.getClass(), context.getHandler()];
    const entry = this.catalog.entry(type, handler);
    const name = apiNameOf(method, template) ?? entry.place;
    const api = { method: method === undefined ? undefined : canonicalMethod(method), name };
    const limits = this.rules.now.limitsOf(entry, api);
    const decidesTwice = this.doors.decidesTwice(entry);
    const countsEachCall = this.rules.now.countsEachCall(entry, api);
    const plan = { template, method, limits, cost: entry.cost, decidesTwice, countsEachCall };
    const severalTemplates = new Set(entry.routes.map((route) => route.name)).size !== 1;
    const handlers = getOrAdd(this.plans, type, () => new Map<object, HandlerPlans>());
    getOrAdd(handlers, handler, () => ({ severalTemplates, plans: [] })).plans.push(plan);
    return plan;
  }
}

/** A template of HTTP in its one spelling; an event or a pattern as it is. */
function apiNameOf(method: string | undefined, template: string | undefined): string | undefined {
  if (method === undefined || template === undefined) return template;
  return canonicalTemplate(template);
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
