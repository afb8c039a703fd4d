/*
 * What one request took, until it is known what it cost.
 *
 *   the guard takes ──► settle(ctx, result) says the cost ──► the response is finished
 *                                │                                     │
 *   rules that count all:        settled                               –
 *   failures, successes:         noted                                 settled: the cost, or nothing
 *
 * Everything is taken first and given back after, so that no race slips through: of many wrong
 * passwords at once no more are tried than the limit. Each counter is settled once, as soon as all
 * is known that concerns it; what is never known stays as it was taken. So a response that is closed
 * before it was finished stays spent, and who hangs up gains nothing.
 */
import type { Counter } from '../core/counter-plan.js';
import { assertCost } from '../core/decision.js';
import type { CountMode } from '../core/rule-fields.js';
import { staysCounted } from '../http/outcome.js';
import type { Taken } from './settlements.js';

/** The response of Node inside that of a framework. */
export interface RawResponse {
  readonly statusCode: number;
  readonly destroyed?: boolean;
  readonly headersSent?: boolean;
  once(event: 'finish' | 'close', listener: () => void): unknown;
}

/** Rules that were decided together and wait for the same. */
interface Pending {
  readonly count: CountMode;
  readonly taken: Taken;
  readonly counters: readonly Counter[];
}

export class Outlay {
  private pending: Pending[] = [];
  /** Whether it stays counted, once that is known. */
  private stays: ((count: CountMode) => boolean) | undefined;
  private cost: number | undefined;
  private watching = false;

  /** What was taken, all together or in parts; also when the answer is known already. */
  add(taken: Taken): void {
    for (const count of new Set(taken.counters.map(({ plan }) => plan.rule.count))) {
      const counters = taken.counters.filter(({ plan }) => plan.rule.count === count);
      this.pending.push({ count, taken, counters });
    }
    this.settle();
  }

  /**
   * Looks how the answer ends, for rules that count outcomes; once. Not through an interceptor, which
   * sees nothing that guards throw.
   */
  watch(response: RawResponse): void {
    if (this.watching) return;
    this.watching = true;
    // Nobody will tell that it is closed when it is already.
    let closed = response.destroyed === true;
    response.once('close', () => {
      closed = true;
    });
    // Node tells of some answers that they were finished though nobody was there to get them.
    response.once('finish', () => closed || this.answered(response.statusCode));
  }

  /**
   * The real cost.
   *
   * @throws RangeError for one that is no whole number, 0 or more
   */
  costs(actual: number): void {
    assertCost(actual);
    this.cost = actual;
    this.settle();
  }

  /** How it ended where there is no status: by an answer, or by what was thrown. */
  ended(failed: boolean): void {
    this.stays ??= (count) => (count === 'failures' ? failed : !failed);
    this.settle();
  }

  private answered(status: number): void {
    this.stays = (count) => staysCounted(count, status);
    this.settle();
  }

  private settle(): void {
    const open: Pending[] = [];
    for (const one of this.pending) {
      const actual = this.finalCost(one.count);
      if (actual === undefined) open.push(one);
      else void one.taken.settle(actual, one.counters);
    }
    this.pending = open;
  }

  /** Undefined while it is not known. */
  private finalCost(count: CountMode): number | undefined {
    const { stays, cost } = this;
    if (count === 'all') return cost;
    if (stays === undefined) return undefined;
    return stays(count) ? cost : 0;
  }
}
