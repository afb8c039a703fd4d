import type { ExecutionContext } from '@nestjs/common';
import { type Counter, isStandIn } from '../core/counter-plan.js';
import type { Asker } from '../core/identity.js';
import type { Decision, MaybePromise } from '../core/index.js';
import { andThen, isPromise } from '../core/maybe-promise.js';
import type { Tier } from '../core/tier-rules.js';
import type { Tiers } from '../core/tiers.js';
import { type CallSubjects, countersOf } from './call-subjects.js';
import type { Deciding } from './deciding.js';
import type { HttpAnswer } from './http-answer.js';
import { platformOf } from './http-platform.js';
import { leavingOf } from './leaving.js';
import { Outlay } from './outlay.js';
import { needsOf, type PlanNeeds } from './plan-needs.js';
import { costOf, type RequestCost } from './request-cost.js';
import type { RequestIdentity, RequestParts } from './request-identity.js';
import type { RoutePlan, RoutePlans } from './route-plans.js';
import type { Taken } from './settlements.js';
import { StandIns } from './stand-ins.js';

/** Where an attempt is remembered: on the request, as it is one however often the guard runs. */
const ATTEMPT = Symbol.for('nestjs-doorman:attempt');

interface Attempt {
  readonly plan: RoutePlan;
  admitted: MaybePromise<boolean>;
  cost: number;
  /** What it took, where that is settled afterwards. */
  outlay: Outlay | undefined;
  /** What the first door charged, where the second is still to come. */
  standIns: StandIns | undefined;
  /** What the first door said. */
  first: Decision | undefined;
  /** The last user's. */
  tier: { readonly userId: string; readonly answer: MaybePromise<Tier | undefined> } | undefined;
}

/** Who asks, and what is counted for that. */
interface Subject {
  readonly counters: readonly Counter[];
  readonly asker: Asker;
  readonly needs: PlanNeeds;
  /** Whether a rule was left out, since neither a value nor an address is known. */
  readonly skipped: boolean;
}

/** An outlay, and who says what it should have been. */
export interface Settling {
  readonly outlay: Outlay;
  readonly settle: NonNullable<RequestCost['settle']>;
}

/** What a transport works with. */
export interface TransportParts {
  readonly plans: RoutePlans;
  readonly identity: RequestIdentity;
  readonly tiers: Tiers | undefined;
  readonly deciding: Deciding;
  readonly answer: HttpAnswer;
  readonly warnSkipped: CallSubjects['warnSkipped'];
}

/** HTTP on Express and Fastify: finds the plan, decides, tells the answer. */
export class HttpTransport {
  constructor(private readonly parts: TransportParts) {}

  /**
   * The first door: whether the request may go on, true at once or by a promise.
   *
   * @throws RateLimitExceededException or RateLimitUnavailableException, or rejects with it, when
   * it may not
   */
  admit(context: ExecutionContext): MaybePromise<boolean> {
    const asked = partsOf(context);
    const { request, response, platform } = asked;
    const plan = this.parts.plans.planFor(context, platform, request);
    if (plan.limits.none) return true;
    const earlier: Attempt | undefined = request[ATTEMPT];
    if (earlier?.plan === plan) return earlier.admitted;
    const attempt = newAttempt(plan);
    const cost = costOf(plan.cost, context);
    const decided = isPromise(cost)
      ? cost.then((one) => this.decideFirst(attempt, one, asked))
      : this.decideFirst(attempt, cost, asked);
    attempt.admitted = andThen(decided, (decision) =>
      this.parts.answer.tell(decision, platform, response),
    );
    request[ATTEMPT] = attempt;
    return attempt.admitted;
  }

  /**
   * The second door: decides anew where the first charged somebody's address and it is known now
   * who that is.
   *
   * @throws as `admit` does
   */
  admitKnown(context: ExecutionContext): MaybePromise<boolean> {
    const asked = partsOf(context);
    const { request, response, platform } = asked;
    const attempt: Attempt | undefined = request[ATTEMPT];
    const { standIns, first } = attempt ?? {};
    if (!attempt || !standIns || !first) return true;
    attempt.standIns = undefined;
    const { answer, deciding } = this.parts;
    return andThen(this.subject(attempt, asked), (subject) => {
      const more = { ...subject, counters: standIns.replaceBy(subject.counters) };
      return andThen(this.decide(attempt, more, asked), (later) => {
        const peek = (some: readonly Counter[]) => deciding.peek(some, attempt.cost, true);
        return andThen(standIns.join(first, later, peek), (decision) => {
          answer.untell(first, platform, response);
          return answer.tell(decision, platform, response);
        });
      });
    });
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

  private decideFirst(attempt: Attempt, cost: number, asked: RequestParts): MaybePromise<Decision> {
    attempt.cost = cost;
    return andThen(this.subject(attempt, asked), (subject) => {
      const { limits, decidesTwice } = attempt.plan;
      const { counters, asker, skipped } = subject;
      const stoodIn = (counter: Counter) => isStandIn(counter.plan, asker);
      // With nobody left to be found out, the second door has nothing to do.
      const mayChange = limits.personal && asker.userId === undefined;
      if (decidesTwice && (mayChange || skipped || counters.some(stoodIn))) {
        attempt.standIns = new StandIns(counters, stoodIn);
      }
      return andThen(this.decide(attempt, subject, asked), (decision) => {
        attempt.first = decision;
        return decision;
      });
    });
  }

  /** Who asks, as far as it is known now, and the counters of what that one meets. */
  private subject(attempt: Attempt, asked: RequestParts): MaybePromise<Subject> {
    const { limits } = attempt.plan;
    const { identity, warnSkipped } = this.parts;
    return andThen(identity.userId(asked.request, asked.context), (userId) =>
      andThen(this.tierOf(attempt, userId, asked), (tier) => {
        const plans = limits.plansFor(userId, tier);
        const needs = needsOf(plans);
        return andThen(identity.asker(asked, userId, limits.api.name, needs), (asker) => {
          const counters = countersOf(plans, asker, warnSkipped);
          return { counters, asker, needs, skipped: counters.length < plans.length };
        });
      }),
    );
  }

  /** Asked once a request, also where nothing is cached. */
  private tierOf(
    attempt: Attempt,
    userId: string | undefined,
    { context }: RequestParts,
  ): MaybePromise<Tier | undefined> {
    const { tiers } = this.parts;
    if (!tiers || userId === undefined) return undefined;
    if (attempt.tier?.userId !== userId) {
      attempt.tier = { userId, answer: tiers.tierOf(userId, context) };
    }
    return attempt.tier.answer;
  }

  private decide(
    attempt: Attempt,
    { counters, asker, needs }: Subject,
    { response, platform }: RequestParts,
  ): MaybePromise<Decision> {
    const leaving = needs.waits ? () => leavingOf(response) : undefined;
    const { standIns } = attempt;
    if (needs.outcome || attempt.plan.cost?.settle) attempt.outlay ??= new Outlay();
    if (needs.outcome) attempt.outlay?.watch(platform.raw(response));
    const { outlay } = attempt;
    const keep = (taken: Taken) => {
      outlay?.add(taken);
      standIns?.add(taken);
    };
    const ways = { leaving, keep: outlay || standIns ? keep : undefined };
    return this.parts.deciding.request(counters, asker, attempt.cost, ways);
  }
}

function partsOf(context: ExecutionContext): RequestParts {
  // Not switchToHttp(), which makes an object and three closures.
  const response = context.getArgByIndex(1);
  return {
    request: context.getArgByIndex(0),
    response,
    context,
    platform: platformOf(response),
  };
}

function newAttempt(plan: RoutePlan): Attempt {
  return {
    plan,
    admitted: false,
    cost: 1,
    outlay: undefined,
    standIns: undefined,
    first: undefined,
    tier: undefined,
  };
}
