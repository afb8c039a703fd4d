import type { Counter, CounterPlan } from '../../core/counter-plan.js';
import { slotOf } from './clients/slot.js';
import { type CounterCodec, codecOf, ruleNumbers } from './counter-codec.js';
import { planDigest, valuesText } from './counter-key.js';

/** A rule as its counters are kept in Redis. */
export interface RemotePlan {
  /** With the arithmetic that makes decisions of a reply. */
  readonly plan: CounterPlan;
  readonly codec: CounterCodec;
  /** The rule's numbers, as the scripts read them. */
  readonly numbers: readonly string[];
  /** What stands behind the values in a key. */
  readonly end: string;
}

export interface RemoteCounter {
  readonly key: string;
  readonly of: RemotePlan;
  /** Of a cluster; 0 where there is none. */
  readonly slot: number;
}

/** Gives counters their keys; what it knows of a plan is noted on the plan. */
export class RemoteCounters {
  private readonly idOfDigest = new Map<string, string>();
  /** What stands before the values. */
  private readonly start: string;

  constructor(
    prefix: string,
    private readonly cluster: () => boolean,
  ) {
    this.start = `${prefix}:{`;
  }

  of({ plan, values }: Counter): RemoteCounter {
    const { note } = plan;
    const of = note.owner === this ? (note.content as RemotePlan) : this.settle(plan);
    const key = this.start + valuesText(values) + of.end;
    return { key, of, slot: this.cluster() ? slotOf(key) : 0 };
  }

  /** @throws Error when two rules would share their counters by chance */
  private settle(plan: CounterPlan): RemotePlan {
    const digest = planDigest(plan);
    const other = this.idOfDigest.get(digest);
    if (other !== undefined && other !== plan.id) {
      throw new Error(
        `The rule "${plan.rule}" of ${plan.label} has the digest of another rule by chance: give it a name`,
      );
    }
    this.idOfDigest.set(digest, plan.id);
    const codec = codecOf(plan.rule, plan.algorithm);
    const numbers = ruleNumbers(plan.rule, plan.algorithm);
    const of = { plan: { ...plan, algorithm: codec.algorithm }, codec, numbers, end: `}${digest}` };
    plan.note.owner = this;
    plan.note.content = of;
    return of;
  }
}
