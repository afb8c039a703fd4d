/*
 * One line: those who wait for the same counters, first come first served.
 *
 *   [ first │ second │ third ]      the first is asked, told a wait, and asked again at dueAt
 *
 * One loop serves the line and sleeps once for all of it: until the first is due, or somebody's
 * time is up. At one moment the first is asked before those are refused whose time ends with it.
 *
 * Nobody takes but by being let in: only the first is asked to take, while its time lasts. What is
 * being asked stays asked: if its time ends or it gives up meanwhile, the answer decides, and who
 * was let in is told so. The other way, giving back, would not be exact for every algorithm.
 *
 * A wait counts from the question. For a store that goes by its own time that may be a moment too
 * early, which costs one more question.
 */
import type { Clock } from './clock.js';
import type { Decision } from './decision.js';
import { isPromise } from './maybe-promise.js';
import type { MaybePromise } from './store.js';
import { capacityOf } from './turn-forecast.js';
import { isWorthWaiting, type Waiter } from './waiter.js';
import { Outlook } from './waiting-outlook.js';
import { WaitingQueue } from './waiting-queue.js';
import { WakeableSleep } from './wakeable-sleep.js';

const AT_ONCE = Number.NEGATIVE_INFINITY;

export class Line {
  private readonly queue: WaitingQueue;
  private readonly outlook: Outlook;
  private readonly rest: WakeableSleep;
  private dueAt = AT_ONCE;
  /** Whether to ask again whatever the answer under way says. */
  private nudged = false;
  private closed = false;

  /** @param onLeave called when one has left, let in or not */
  constructor(
    private readonly clock: Clock,
    private readonly onLeave: (line: Line) => void,
  ) {
    this.rest = new WakeableSleep(clock);
    this.queue = new WaitingQueue((waiter, wasFirst) => this.left(waiter, wasFirst));
    this.outlook = new Outlook(this.queue, clock, {
      refuse: (waiter) => this.queue.refuse(waiter, this.millisLeft),
      lookAgain: () => this.rest.wake(),
    });
  }

  get size(): number {
    return this.queue.size;
  }

  /** How long until the first is asked; less than 0 when it is being asked. */
  get millisLeft(): number {
    return this.dueAt - this.clock.nowMillis();
  }

  /** @param told what it was refused with at this moment */
  join(waiter: Waiter, told: Decision | undefined): void {
    this.queue.add(waiter);
    if (waiter === this.queue.first) {
      if (told) this.hold(waiter, told, this.clock.nowMillis());
      void this.serve();
    } else {
      this.outlook.add(waiter);
      this.rest.wake();
    }
  }

  /** Something was given back: the first is asked anew. */
  nudge(): void {
    this.nudged = true;
    this.dueAt = AT_ONCE;
    this.rest.wake();
  }

  /** Refuses all but who is being decided now, and nobody waits from now on. */
  close(): readonly Promise<Decision>[] {
    this.closed = true;
    return this.queue.refuseAll(this.millisLeft);
  }

  private async serve(): Promise<void> {
    const { queue } = this;
    try {
      for (let { first } = queue; first; first = queue.first) {
        const now = this.clock.nowMillis();
        const rests = this.dueAt > now;
        // Readings are whole: whose time ends before the next is not let in while the line rests.
        queue.expire(rests ? now + 1 : now, this.dueAt - now);
        if (first !== queue.first) continue;
        const done = rests ? this.restUntilDue(now) : this.ask(first, now);
        if (isPromise(done)) await done;
      }
    } catch (error) {
      for (const waiter of queue) queue.fail(waiter, error);
    }
  }

  private restUntilDue(now: number): Promise<void> {
    this.outlook.look();
    return this.rest.sleep(Math.min(this.dueAt, this.queue.nextDeadline) - now);
  }

  private ask(first: Waiter, now: number): MaybePromise<void> {
    first.asking = true;
    this.nudged = false;
    this.outlook.changed(first);
    const failed = (error: unknown) => this.queue.fail(first, error);
    const answered = (decision: Decision) => this.answered(first, decision, now);
    try {
      const answer = first.take();
      return isPromise(answer) ? answer.then(answered, failed) : answered(answer);
    } catch (error) {
      return failed(error);
    }
  }

  private answered(first: Waiter, decision: Decision, askedAt: number): void {
    first.asking = false;
    if (decision.allowed) {
      this.queue.leave(first);
      first.tell(decision);
    } else if (first.gaveUp) this.queue.giveUp(first);
    else if (!this.nudged || this.closed) this.hold(first, decision, askedAt);
  }

  /** Keeps a refused one as the first, if it can still come in time. */
  private hold(first: Waiter, decision: Decision, askedAt: number): void {
    first.heed(decision);
    const due = askedAt + Math.max(1, decision.retryAfterMillis);
    // So that what is no number ends the waiting.
    if (!this.closed && isWorthWaiting(decision) && due <= first.deadline) {
      this.dueAt = due;
      this.outlook.capacity = capacityOf(decision);
      this.queue.heed(first);
    } else {
      this.queue.leave(first);
      first.tell(decision);
    }
  }

  private left(waiter: Waiter, wasFirst: boolean): void {
    this.outlook.changed(waiter);
    this.onLeave(this);
    if (!wasFirst) return;
    this.dueAt = AT_ONCE;
    this.rest.wake();
  }
}
