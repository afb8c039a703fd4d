import { joinDecisions, rulesOf } from '../../core/decision.js';
import type { Decision, RuleDecision } from '../../core/index.js';
import type { HttpAnswer } from '../http-answer.js';
import type { HttpPlatform, HttpResponse } from '../http-platform.js';

/**
 * Headers of a response that many decisions go into: those of all resolvers that one request of
 * GraphQL calls. Each policy stands in them once, as it was told last. No `Retry-After`: that is of
 * a response as a whole, and the other resolvers' part of it is there.
 */
export class JointAnswer {
  private readonly told = new WeakMap<object, Map<string, RuleDecision>>();

  constructor(private readonly http: HttpAnswer) {}

  tell(decision: Decision, platform: HttpPlatform, response: HttpResponse): void {
    if (decision.degraded || decision.limit === Number.POSITIVE_INFINITY) return;
    // Streams of parts begin to be sent while resolvers still run.
    if (platform.raw(response).headersSent) return;
    const rules = this.told.get(response) ?? new Map<string, RuleDecision>();
    this.told.set(response, rules);
    for (const rule of rulesOf(decision)) rules.set(rule.name, rule);
    this.http.tellHeaders(joinDecisions([...rules.values()]), platform, response);
  }

  untell(decision: Decision, response: HttpResponse): void {
    const rules = this.told.get(response);
    if (rules) for (const { name } of rulesOf(decision)) rules.delete(name);
  }
}
