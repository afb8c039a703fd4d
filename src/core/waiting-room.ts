/*
 * Waiting for a limit: a line for each key, first come first served.
 *
 *   counters ──► line ──► [ first │ second │ third ]
 *
 * Lines are of this process alone, and of those who wait: others may take meanwhile, here or
 * elsewhere, and then the first is told a longer wait. Lines that share some counters but not all
 * compete in the same way.
 */
import type { Clock } from './clock.js';
import type { Decision } from './decision.js';
import { encodeParts } from './identity.js';
import { type Asks, refused, type Visit, Waiter } from './waiter.js';
import { Line } from './waiting-line.js';

export const DEFAULT_MAX_WAITERS = 10_000;

interface Place {
  readonly line: Line;
  readonly counters: readonly string[];
}

export class WaitingRoom {
  private readonly places = new Map<string, Place>();
  private count = 0;
  private closed = false;

  /**
   * @param clock never goes back
   * @param maxWaiters how many wait at most, in all lines together
   * @throws RangeError when that is no whole number, 0 or more
   */
  constructor(
    private readonly clock: Clock,
    private readonly maxWaiters = DEFAULT_MAX_WAITERS,
  ) {
    if (!(Number.isInteger(maxWaiters) && maxWaiters >= 0)) {
      const given = `${typeof maxWaiters} ${String(maxWaiters)}`;
      throw new RangeError(`maxWaiters is a whole number, 0 or more, got ${given}`);
    }
  }

  /** How many wait, or are decided for the first time, now. */
  get waiting(): number {
    return this.count;
  }

  /** Whether anybody waits for exactly these counters. */
  isWaitedFor(counters: readonly string[]): boolean {
    return this.places.size > 0 && this.places.has(encodeParts(counters));
  }

  /**
   * Takes the cost as soon as it fits and all who came before are served, or refuses: at once where
   * that cannot be in time, never is, or too many wait already; else when its time is up.
   *
   * @param counters texts that tell the counters apart
   * @throws the signal's reason, unless it was let in before that was known; what asking throws
   */
  async enter(counters: readonly string[], asks: Asks, visit: Visit): Promise<Decision> {
    const { cost, signal, told } = visit;
    signal?.throwIfAborted();
    // Nothing always fits, and takes nothing from those before it.
    if (cost === 0) return asks.take(0);
    const key = encodeParts(counters);
    const known = this.places.get(key);
    if (this.closed || this.count >= this.maxWaiters) {
      if (!known) return told ?? asks.take(cost);
      return refused(await asks.peek(cost), known.line.millisLeft);
    }
    const { line } = known ?? this.open(key, counters);
    const waiter = new Waiter(visit, asks);
    this.count++;
    line.join(waiter, told);
    return waiter.answer;
  }

  /** Asks anew for all who wait for one of these counters: something was given back. */
  wake(counters: readonly string[]): void {
    if (this.places.size === 0) return;
    const changed = new Set(counters);
    for (const place of this.places.values()) {
      if (place.counters.some((counter) => changed.has(counter))) place.line.nudge();
    }
  }

  /** Refuses all who wait, and lets nobody wait from now on; resolves when all were told. */
  async close(): Promise<void> {
    this.closed = true;
    const answers = [...this.places.values()].flatMap(({ line }) => line.close());
    await Promise.allSettled(answers);
  }

  private open(key: string, counters: readonly string[]): Place {
    const onLeave = ({ size }: Line) => {
      this.count--;
      if (size === 0) this.places.delete(key);
    };
    const place = { line: new Line(this.clock, onLeave), counters };
    this.places.set(key, place);
    return place;
  }
}
