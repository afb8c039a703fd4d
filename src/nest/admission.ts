import { type Counter, isStandIn } from '../core/counter-plan.js';
import type { Asker } from '../core/identity.js';
import type { Decision, MaybePromise } from '../core/index.js';
import { andThen, isPromise } from '../core/maybe-promise.js';
import type { Tier } from '../core/tier-rules.js';
import type { Tiers } from '../core/tiers.js';
import { type Attempt, attemptIn, newAttempt, remember } from './attempt.js';
import { type CallSubjects, countersOf } from './call-subjects.js';
import type { Deciding } from './deciding.js';
import { Outlay } from './outlay.js';
import { needsOf, type PlanNeeds } from './plan-needs.js';
import { costOf, type RequestCost } from './request-cost.js';
import type { RequestIdentity } from './request-identity.js';
import type { RoutePlans } from './route-plans.js';
import type { Taken } from './settlements.js';
import { StandIns } from './stand-ins.js';
import type { Call } from './transports/call.js';

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

/** What deciding for a call works with. */
export interface AdmissionParts {
  readonly plans: RoutePlans;
  readonly identity: RequestIdentity;
  readonly tiers: Tiers | undefined;
  readonly deciding: Deciding;
  readonly warnSkipped: CallSubjects['warnSkipped'];
}

/** Decides whether calls may go on, however they came in: finds the plan, decides, tells the answer. */
export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /**
   * The first door: whether the call may go on, true at once or by a promise.
   *
   * @throws the refusal of the transport, or rejects with it, when it may not
   */
  admit(call: Call): MaybePromise<boolean> {
    const plan = this.parts.plans.planFor(call);
    if (plan.limits.none) return true;
    const holder = plan.countsEachCall ? call.ownHolder : call.holder;
    const earlier = attemptIn(holder);
    if (earlier?.plan === plan) return admittedBefore(earlier);
    const attempt = newAttempt(plan);
    const cost = costOf(plan.cost, call.context);
    const decided = isPromise(cost)
      ? cost.then((one) => this.decideFirst(attempt, one, call))
      : this.decideFirst(attempt, cost, call);
    try {
      attempt.admitted = andThen(decided, (decision) => call.tell(decision));
    } catch (refusal) {
      attempt.refusal = refusal;
      throw refusal;
    } finally {
      remember(holder, attempt);
    }
    return attempt.admitted;
  }

  /**
   * The second door: decides anew where the first charged somebody's address and it is known now
   * who that is.
   *
   * @throws as `admit` does
   */
  admitKnown(call: Call): MaybePromise<boolean> {
    const attempt = attemptOf(call);
    const { standIns, first } = attempt ?? {};
    if (!attempt || !standIns || !first) return attempt?.known ?? true;
    attempt.standIns = undefined;
    attempt.known = this.decideSecond(call, attempt, standIns, first);
    return attempt.known;
  }

  /**
   * What the latest attempt of a call took, where its decorator settles that. Handed out once:
   * class and handler may both have bound who asks.
   */
  settling(call: Call): Settling | undefined {
    const attempt = attemptOf(call);
    if (!attempt?.outlay || !attempt.plan.cost?.settle) return undefined;
    const settling = { settle: attempt.plan.cost.settle, outlay: attempt.outlay };
    attempt.outlay = undefined;
    return settling;
  }

  /** What waits to be told how the call ends; undefined where that is seen without. */
  open(call: Call): Outlay | undefined {
    return attemptOf(call)?.open;
  }

  private decideSecond(
    call: Call,
    attempt: Attempt,
    standIns: StandIns,
    first: Decision,
  ): MaybePromise<boolean> {
    return andThen(this.subject(attempt, call), (subject) => {
      const more = { ...subject, counters: standIns.replaceBy(subject.counters) };
      return andThen(this.decide(attempt, more, call), (later) => {
        const peek = (some: readonly Counter[]) =>
          this.parts.deciding.peek(some, attempt.cost, true);
        return andThen(standIns.join(first, later, peek), (decision) => {
          call.untell(first);
          return call.tell(decision);
        });
      });
    });
  }

  private decideFirst(attempt: Attempt, cost: number, call: Call): MaybePromise<Decision> {
    attempt.cost = cost;
    return andThen(this.subject(attempt, call), (subject) => {
      const { limits, decidesTwice } = attempt.plan;
      const { counters, asker, skipped } = subject;
      const stoodIn = (counter: Counter) => isStandIn(counter.plan, asker);
      // With nobody left to be found out, the second door has nothing to do.
      const mayChange = limits.personal && asker.userId === undefined;
      if (decidesTwice && (mayChange || skipped || counters.some(stoodIn))) {
        attempt.standIns = new StandIns(counters, stoodIn);
      }
      return andThen(this.decide(attempt, subject, call), (decision) => {
        attempt.first = decision;
        return decision;
      });
    });
  }

  /** Who asks, as far as it is known now, and the counters of what that one meets. */
  private subject(attempt: Attempt, call: Call): MaybePromise<Subject> {
    const { limits } = attempt.plan;
    const { identity, warnSkipped } = this.parts;
    return andThen(identity.userId(call), (userId) =>
      andThen(this.tierOf(attempt, userId, call), (tier) => {
        const plans = limits.plansFor(userId, tier);
        const needs = needsOf(plans);
        const asked = identity.asker(call, userId, limits.api.name, needs);
        return andThen(asked, (asker) => {
          const counters = countersOf(plans, asker, warnSkipped);
          return { counters, asker, needs, skipped: counters.length < plans.length };
        });
      }),
    );
  }

  /** Asked once a call, also where nothing is cached. */
  private tierOf(
    attempt: Attempt,
    userId: string | undefined,
    { context }: Call,
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
    call: Call,
  ): MaybePromise<Decision> {
    const leaving = needs.waits ? () => call.leaving() : undefined;
    const { standIns } = attempt;
    if (needs.outcome || attempt.plan.cost?.settle) attempt.outlay ??= new Outlay();
    if (needs.outcome && attempt.outlay && !call.watch(attempt.outlay))
      attempt.open = attempt.outlay;
    const { outlay } = attempt;
    const keep = (taken: Taken) => {
      outlay?.add(taken);
      standIns?.add(taken);
    };
    const ways = { leaving, keep: outlay || standIns ? keep : undefined };
    return this.parts.deciding.request(counters, asker, attempt.cost, ways);
  }
}

/** The attempt that a call is, alone or with others. */
function attemptOf(call: Call): Attempt | undefined {
  return attemptIn(call.ownHolder) ?? attemptIn(call.holder);
}

/** What was said of this attempt: a promise of it, also while it is on its way. */
function admittedBefore({ refusal, admitted }: Attempt): MaybePromise<boolean> {
  if (refusal !== undefined) throw refusal;
  return admitted;
}
