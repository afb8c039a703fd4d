/*
 * What is decided while a store cannot be asked: each rule does as its `onStoreError` says.
 *
 *   allow   lets in and counts nothing
 *   deny    refuses, with reason `store`
 *   local   counts in this process, against this process's share of the limit
 *
 * Some answers need no counter: a cost of 0 is allowed and one above the capacity refused for ever,
 * as always; a rule that denies refuses, and so does a share that is smaller than the cost, since
 * the store might let it in and waiting for the share would not help. When any of these refuses,
 * nothing is taken from the shares of the others.
 *
 * Of a rule that allows, the numbers of a fresh counter are told: nothing is counted, so the next
 * request meets the same. One that denies has nothing left until the store is asked again.
 */
import type { Counter, CounterPlan } from './counter-plan.js';
import { type Decision, joinDecisions, type RuleDecision, rulesOf } from './decision.js';
import { LocalShares } from './local-shares.js';
import type { Rule } from './rule.js';
import type { StoreErrorPolicy } from './rule-fields.js';
import type { Receipt, StoreEntry, SynchronousStore } from './store.js';

/**
 * What a rule does while its store is out of reach. Counting failures is there to stop guessing, so
 * such a rule goes on counting where it can.
 */
export function storeErrorPolicyOf({ onStoreError, count }: Rule): StoreErrorPolicy {
  return onStoreError ?? (count === 'failures' ? 'local' : 'allow');
}

/** Decides without the store. */
export class DegradedLimiter {
  private readonly shares = new LocalShares();

  /**
   * @param local where `local` rules count: a store of this limiter's own, never cleared while it
   * lives, so that a store that comes and goes does not give a share anew each time
   * @param instances how many share the limits, 1 or more; asked when a `local` rule decides
   */
  constructor(
    private readonly local: SynchronousStore,
    private readonly instances: () => number,
  ) {}

  /**
   * Decides an entry; `degraded` is true in the answer. All `local` counters spend, or none. A
   * refusal with reason `store` has `retryAfterMillis` as handed in: whatever the shares say, it is
   * the store that decides once it is back.
   *
   * @param now milliseconds, never smaller than at the last call
   * @param retryAfterMillis when it is worth asking the store again; less than 1 counts as 1
   */
  decide(entry: StoreEntry, now: number, retryAfterMillis: number): Decision {
    const { counters, cost } = entry;
    const wait = Math.max(1, Math.ceil(retryAfterMillis));
    const shares = this.sharesOf(counters);
    const waits = counters.map(({ plan }, i) => waitUncounted(plan, shares[i]?.plan, cost, wait));
    const mode = waits.some((one) => one > 0) ? 'peek' : entry.mode;
    const counted = this.askShares(shares, cost, mode, now);
    const rules = counters.map(({ plan }, i) => {
      if (shares[i] === undefined) return uncounted(plan, waits[i]!, wait);
      const rule = counted.shift()!;
      return waits[i]! > 0 ? { ...rule, allowed: false, retryAfterMillis: waits[i]! } : rule;
    });
    return join(rules, rules[waits.findIndex((one) => one > 0)]);
  }

  /**
   * Corrects what a decision of this limiter took, as `settle` of a store does. Only for receipts
   * of its own decisions: what the store took is not counted here.
   *
   * @returns how much of a charge was dropped
   */
  settle({ entry, takenAtMillis }: Receipt, delta: number, now: number): number {
    const counters = this.sharesOf(entry.counters).filter((share) => share !== undefined);
    return this.local.settle({ entry: { ...entry, counters }, takenAtMillis }, delta, now);
  }

  /** Each counter's share; undefined for those of rules that do not count here. */
  private sharesOf(counters: readonly Counter[]): (Counter | undefined)[] {
    const isLocal = ({ plan }: Counter) => storeErrorPolicyOf(plan.rule) === 'local';
    if (!counters.some(isLocal)) return [];
    const instances = this.instances();
    return counters.map((counter) => {
      if (!isLocal(counter)) return undefined;
      return { plan: this.shares.of(counter.plan, instances), values: counter.values };
    });
  }

  private askShares(
    shares: readonly (Counter | undefined)[],
    cost: number,
    mode: StoreEntry['mode'],
    now: number,
  ): RuleDecision[] {
    const counters = shares.filter((share) => share !== undefined);
    if (counters.length === 0) return [];
    return [...rulesOf(this.local.decide([{ counters, cost, mode }], now)[0]!.decision)];
  }
}

/** For how long a rule refuses whatever was counted; 0 when it does not. */
function waitUncounted(
  { algorithm, rule }: CounterPlan,
  share: CounterPlan | undefined,
  cost: number,
  wait: number,
): number {
  if (cost === 0) return 0;
  if (cost > algorithm.capacity) return Number.POSITIVE_INFINITY;
  if (share) return cost > share.algorithm.capacity ? wait : 0;
  return storeErrorPolicyOf(rule) === 'deny' ? wait : 0;
}

/** What a rule says that counts nothing. */
function uncounted(plan: CounterPlan, ruleWait: number, wait: number): RuleDecision {
  const { capacity, fillMillis } = plan.algorithm;
  const denies = storeErrorPolicyOf(plan.rule) === 'deny';
  return {
    name: plan.label,
    allowed: ruleWait === 0,
    limit: capacity,
    windowMillis: fillMillis,
    remaining: denies ? 0 : capacity,
    retryAfterMillis: ruleWait,
    resetAfterMillis: denies ? wait : 0,
    moreAfterMillis: denies ? wait : 0,
  };
}

/** @param missing the first rule that refuses for want of its store, or for ever */
function join(rules: readonly RuleDecision[], missing: RuleDecision | undefined): Decision {
  const joint = { ...joinDecisions(rules), degraded: true };
  const answer = rules.length > 1 ? joint : { ...joint, rules: undefined };
  if (!missing || joint.reason === 'never') return answer;
  const { name: policy, limit, windowMillis, retryAfterMillis } = missing;
  return { ...answer, reason: 'store', policy, limit, windowMillis, retryAfterMillis };
}
