import type { Counter } from '../core/counter-plan.js';
import { rulesOf } from '../core/decision.js';
import { encodeParts } from '../core/identity.js';
import type { Decision, RuleDecision } from '../core/index.js';
import type { Taken } from './settlements.js';

/**
 * What the first door charged, for a caller who may be known better at the second: there, counters
 * that still apply stay charged, and the address's are given back where it stood in for somebody.
 */
export class StandIns {
  private readonly taken: Taken[] = [];
  private applies: ReadonlySet<string> | undefined;

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
    if (this.applies) this.settle(taken, this.applies);
    else this.taken.push(taken);
  }

  /** The caller is known: these counters are his. Answers those that were not charged yet. */
  replaceBy(counters: readonly Counter[]): Counter[] {
    const applies = new Set(counters.map(keyOf));
    this.applies = applies;
    for (const taken of this.taken) this.settle(taken, applies);
    const charged = new Set(this.counters.map(keyOf));
    return counters.filter((counter) => !charged.has(keyOf(counter)));
  }

  /** What the first decision said of the counters that still apply. */
  staying(first: Decision): RuleDecision[] {
    const enforced = this.counters.filter(({ plan }) => plan.rule.mode === 'enforce');
    if (enforced.length === 0 || first.limit === Number.POSITIVE_INFINITY) return [];
    return rulesOf(first).filter((_, i) => this.applies?.has(keyOf(enforced[i]!)));
  }

  private settle(taken: Taken, applies: ReadonlySet<string>): void {
    const over = taken.counters.filter(
      (counter) => !applies.has(keyOf(counter)) && this.stoodIn(counter),
    );
    if (over.length > 0) void taken.settle(0, over);
  }
}

function keyOf({ plan, values }: Counter): string {
  return encodeParts([plan.id, ...values]);
}
