import type { Decision } from './decision.js';
import type { Waiter } from './waiter.js';

/** Those who wait in one line, in their order, and the ways to leave it. */
export class WaitingQueue implements Iterable<Waiter> {
  private readonly waiters = new Set<Waiter>();
  /** Not later than the first moment at which somebody's time is up. */
  private earliest = Number.POSITIVE_INFINITY;

  /** @param onLeave called when one has left, let in or not */
  constructor(private readonly onLeave: (waiter: Waiter, wasFirst: boolean) => void) {}

  get first(): Waiter | undefined {
    return this.waiters.values().next().value;
  }

  get size(): number {
    return this.waiters.size;
  }

  get nextDeadline(): number {
    return this.earliest;
  }

  [Symbol.iterator](): Iterator<Waiter> {
    return this.waiters[Symbol.iterator]();
  }

  add(waiter: Waiter): void {
    this.waiters.add(waiter);
    waiter.onGivingUp(() => this.giveUp(waiter));
    this.heed(waiter);
  }

  /** Called when the deadline of one has changed. */
  heed({ deadline }: Waiter): void {
    this.earliest = Math.min(this.earliest, deadline);
  }

  /** Refuses those whose time ends before `until`. */
  expire(until: number, millisLeft: number): void {
    if (this.earliest >= until) return;
    this.earliest = Number.POSITIVE_INFINITY;
    for (const waiter of this.waiters) {
      if (waiter.deadline < until) this.refuse(waiter, millisLeft);
      else this.heed(waiter);
    }
  }

  /** @param millisLeft until the first is asked */
  refuse(waiter: Waiter, millisLeft: number): void {
    this.leave(waiter);
    void waiter.tellRefusal(millisLeft);
  }

  /**
   * Refuses all but who is being decided now.
   *
   * @returns what each of them is told
   */
  refuseAll(millisLeft: number): readonly Promise<Decision>[] {
    const waiters = [...this.waiters];
    for (const waiter of waiters) if (!waiter.asking) this.refuse(waiter, millisLeft);
    return waiters.map(({ answer }) => answer);
  }

  fail(waiter: Waiter, error: unknown): void {
    this.leave(waiter);
    waiter.fail(error);
  }

  /** Who is being decided stays: only the answer says whether something was taken. */
  giveUp(waiter: Waiter): void {
    if (waiter.asking) return;
    this.leave(waiter);
    waiter.letGo();
  }

  leave(waiter: Waiter): void {
    const wasFirst = waiter === this.first;
    this.waiters.delete(waiter);
    waiter.left();
    this.onLeave(waiter, wasFirst);
  }
}
