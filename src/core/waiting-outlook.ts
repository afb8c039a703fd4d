/*
 * Who stands behind others is looked at once, while the line rests: can it come in time?
 *
 * One after another, so that each counts those before it that stay; and while nobody is asked to
 * take, as his cost would be counted twice. Whatever changes meanwhile, the look is begun anew.
 */
import type { Clock } from './clock.js';
import type { Decision } from './decision.js';
import { isPromise } from './maybe-promise.js';
import type { MaybePromise } from './store.js';
import { type Forecast, forecast } from './turn-forecast.js';
import { isWorthWaiting, type Waiter } from './waiter.js';
import type { WaitingQueue } from './waiting-queue.js';

/** What it tells its line. */
interface Told {
  refuse(waiter: Waiter): void;
  /** Calls `look` when the line rests again. */
  lookAgain(): void;
}

export class Outlook {
  /** The smallest of the rules. */
  capacity = Number.POSITIVE_INFINITY;
  private readonly unseen = new Set<Waiter>();
  private changes = 0;
  private looking = false;

  constructor(
    private readonly queue: WaitingQueue,
    private readonly clock: Clock,
    private readonly line: Told,
  ) {}

  add(waiter: Waiter): void {
    this.unseen.add(waiter);
  }

  /** One has left, or is asked now. */
  changed(waiter: Waiter): void {
    this.changes++;
    this.unseen.delete(waiter);
  }

  /** Refuses those that cannot come in time. Called while the line rests. */
  look(): void {
    if (this.unseen.size > 0 && !this.looking) void this.lookAtAll();
  }

  private async lookAtAll(): Promise<void> {
    this.looking = true;
    let { changes } = this;
    let upTo = 0;
    for (const waiter of this.queue) {
      upTo += waiter.cost;
      if (!this.unseen.has(waiter)) continue;
      const verdict = this.lookAt(waiter, upTo);
      const tell = isPromise(verdict) ? await verdict : verdict;
      if (this.changes !== changes) break;
      this.unseen.delete(waiter);
      if (!tell) continue;
      tell();
      upTo -= waiter.cost;
      changes = this.changes;
    }
    this.looking = false;
    if (this.unseen.size > 0) this.line.lookAgain();
  }

  /** @returns what to do with one that is not to wait */
  private lookAt(waiter: Waiter, upTo: number): MaybePromise<(() => void) | undefined> {
    const { line, queue, capacity } = this;
    if (waiter.deadline === Number.POSITIVE_INFINITY && waiter.cost <= capacity) return undefined;
    const now = this.clock.nowMillis();
    const turn = forecast(upTo, waiter.cost, capacity, waiter.fades);
    const judge = (answer: Decision) =>
      isHopeless(waiter, now, turn, answer) ? () => line.refuse(waiter) : undefined;
    const failed = (error: unknown) => () => queue.fail(waiter, error);
    try {
      const answer = waiter.peek(turn.cost);
      return isPromise(answer) ? answer.then(judge, failed) : judge(answer);
    } catch (error) {
      return failed(error);
    }
  }
}

function isHopeless(waiter: Waiter, now: number, turn: Forecast, answer: Decision): boolean {
  if (!answer.allowed) {
    if (!isWorthWaiting(answer)) return true;
    waiter.heed(answer);
  }
  return now + turn.soonest(answer) > waiter.deadline;
}
