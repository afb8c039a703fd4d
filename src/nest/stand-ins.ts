import type { Counter } from '../core/counter-plan.js';
import { continueDecision, rulesOf } from '../core/decision.js';
import { encodeParts } from '../core/identity.js';
import type { Decision, MaybePromise, RuleDecision } from '../core/index.js';
import type { Taken } from './settlements.js';

/**
 * What the first door charged, for a caller who may be known better at the second: there, counters
 * that still apply stay charged, and the address's are given back where it stood in for somebody.
 */
export class StandIns {
  private readonly taken: Taken[] = [];
  private applies: ReadonlySet<string> | undefined;
  private refused = false;

  /**
   * @param counters all that were asked
   * @param stoodIn whether an address stands in for what is not known of a counter
   */
  constructor(
    private readonly counters: readonly Counter[],
    private readonly stoodIn: (counter: Counter) => boolean,
  ) {}

  /** What was charged; of a rule in shadow mode that may be told when all is over. */
  add(taken: Taken): void {
    this.taken.push(taken);
    if (this.applies) void this.giveBack(taken, this.applies);
  }

  /** The caller is known: these counters are his. Answers those that were not charged yet. */
  replaceBy(counters: readonly Counter[]): Counter[] {
    const applies = new Set(counters.map(keyOf));
    this.applies = applies;
    for (const taken of this.taken) void this.giveBack(taken, applies);
    const charged = new Set(this.counters.map(keyOf));
    return counters.filter((counter) => !charged.has(keyOf(counter)));
  }

  /**
   * The one decision of both doors. A refusal changes nothing: at the second door too, and so what
   * stayed charged is given back. It would else refuse when the hint says to come back, and a known
   * user who floods would spend what others share with him.
   *
   * @param first what the first door said, which let in
   * @param later what the second says of the counters that `replaceBy` answered
   * @param peek asks how counters stand
   */
  join(
    first: Decision,
    later: Decision,
    peek: (counters: readonly Counter[]) => MaybePromise<Decision>,
  ): MaybePromise<Decision> {
    if (!later.allowed) return this.joinRefusal(later, peek);
    return continueDecision(this.staying(first), later, first.degraded);
  }

  private async joinRefusal(
    later: Decision,
    peek: (counters: readonly Counter[]) => MaybePromise<Decision>,
  ): Promise<Decision> {
    this.refused = true;
    const { applies = new Set() } = this;
    await Promise.all(this.taken.map((taken) => this.giveBack(taken, applies)));
    const staying = this.enforced().filter((counter) => applies.has(keyOf(counter)));
    if (staying.length === 0) return later;
    const now = await peek(staying);
    return continueDecision(rulesOf(now), later, now.degraded);
  }

  /** What the first decision said of the counters that still apply. */
  private staying(first: Decision): RuleDecision[] {
    const enforced = this.enforced();
    if (enforced.length === 0 || first.limit === Number.POSITIVE_INFINITY) return [];
    return rulesOf(first).filter((_, i) => this.applies?.has(keyOf(enforced[i]!)));
  }

  private enforced(): Counter[] {
    return this.counters.filter(({ plan }) => plan.rule.mode === 'enforce');
  }

  /** All of it after a refusal, else what does not apply. */
  private async giveBack(taken: Taken, applies: ReadonlySet<string>): Promise<void> {
    const over = taken.counters.filter(
      (counter) => this.refused || (!applies.has(keyOf(counter)) && this.stoodIn(counter)),
    );
    if (over.length > 0) await taken.settle(0, over);
  }
}

function keyOf({ plan, values }: Counter): string {
  return encodeParts([plan.id, ...values]);
}
