/*
 * Sliding window (the exact log)
 *
 *        ├────────── window ──────────┤
 *   ─────┼──×───×──×───────────×──×───┤ now        × an accepted request
 *     ×  │  oldest that counts
 *     └ left the window: time + window ≤ now
 *
 * The times of the accepted requests, oldest first, in a ring of `limit` places. An entry counts
 * while time + window > now, so in no window are there more than `limit`: exact.
 *
 *   ring:  [ t5 t6 | t1 t2 t3 t4 ]     count = 6, oldest = 2
 *                    └ oldest
 *
 * With n entries in the ring (some of which may no longer count), `cost` fits once the
 * (n + cost − limit)-th oldest has left: one look tells the wait, whatever the cost, and one ms
 * less is too early. Only `remaining` has to find the oldest entry that counts: O(log limit),
 * as times never decrease. Memory: limit + 3 numbers a key.
 */
import type { Algorithm, AlgorithmKind, Cells, RuleNumbers, View } from './algorithm.js';
import { EXACT_BOUND } from './integers.js';

const FRESH_AT = 0;
const COUNT = 1;
const OLDEST = 2;
const RING = 3;

class SlidingWindow implements Algorithm {
  readonly capacity: number;
  readonly fillMillis: number;
  readonly width: number;
  readonly weight: number;

  constructor({ limit, windowMillis }: RuleNumbers) {
    this.capacity = limit;
    this.fillMillis = windowMillis;
    this.width = RING + limit;
    this.weight = Math.ceil(limit / 3);
  }

  decide(cells: Cells, at: number, now: number, cost: number, take: boolean, view: View): number {
    const leave = cells[at + COUNT]! + cost - this.capacity;
    const wait = leave <= 0 ? 0 : Math.max(0, this.left(cells, at, now, leave - 1));
    if (take && wait === 0) this.take(cells, at, now, cost);
    const count = cells[at + COUNT]!;
    const gone = this.gone(cells, at, now);
    view.remaining = this.capacity - (count - gone);
    view.resetAfter = Math.max(0, cells[at + FRESH_AT]! - now);
    view.moreAfter = gone === count ? 0 : this.left(cells, at, now, gone);
    return wait;
  }

  /** Entries of exactly that millisecond; the younger ones close up. */
  giveBack(cells: Cells, at: number, now: number, count: number, takenAt: number): void {
    if (takenAt + this.fillMillis <= now) return;
    const total = cells[at + COUNT]!;
    let kept = 0;
    let given = 0;
    for (let i = 0; i < total; i++) {
      const time = this.time(cells, at, i);
      if (time === takenAt && given < count) given++;
      else cells[at + RING + this.wrap(cells[at + OLDEST]! + kept++)] = time;
    }
    cells[at + COUNT] = kept;
    cells[at + FRESH_AT] = kept === 0 ? 0 : this.time(cells, at, kept - 1) + this.fillMillis;
  }

  charge(cells: Cells, at: number, now: number, count: number): number {
    const counted = cells[at + COUNT]! - this.gone(cells, at, now);
    const charged = Math.min(count, this.capacity - counted);
    if (charged > 0) this.take(cells, at, now, charged);
    return charged;
  }

  /**
   * The youngest entries, as many as the ring holds: of 8 entries under a limit of 5 the three
   * oldest decide nothing any more, since the fourth has to leave before one more fits.
   */
  resize(old: Cells, oldAt: number, oldWidth: number, cells: Cells, at: number): void {
    const size = oldWidth - RING;
    const count = old[oldAt + COUNT]!;
    const kept = Math.min(count, this.capacity);
    const first = old[oldAt + OLDEST]! + count - kept;
    for (let i = 0; i < kept; i++) {
      cells[at + RING + i] = old[oldAt + RING + ((first + i) % size)]!;
    }
    cells[at + FRESH_AT] = old[oldAt + FRESH_AT]!;
    cells[at + COUNT] = kept;
    cells[at + OLDEST] = 0;
  }

  private take(cells: Cells, at: number, now: number, cost: number): void {
    const leave = Math.max(0, cells[at + COUNT]! + cost - this.capacity);
    const count = cells[at + COUNT]! - leave;
    const oldest = this.wrap(cells[at + OLDEST]! + leave);
    for (let i = 0; i < cost; i++) cells[at + RING + this.wrap(oldest + count + i)] = now;
    cells[at + FRESH_AT] = now + this.fillMillis;
    cells[at + COUNT] = count + cost;
    cells[at + OLDEST] = oldest;
  }

  /** How many of the ring's entries, oldest first, no longer count. */
  private gone(cells: Cells, at: number, now: number): number {
    let low = 0;
    let high = cells[at + COUNT]!;
    if (high === 0 || this.left(cells, at, now, 0) > 0) return 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.left(cells, at, now, middle) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** How long the i-th oldest entry still counts; 0 or less when it does not. */
  private left(cells: Cells, at: number, now: number, i: number): number {
    return this.time(cells, at, i) + this.fillMillis - now;
  }

  private time(cells: Cells, at: number, i: number): number {
    return cells[at + RING + this.wrap(cells[at + OLDEST]! + i)]!;
  }

  /** Indices here are below twice the ring: a subtraction is cheaper than a remainder. */
  private wrap(index: number): number {
    return index < this.capacity ? index : index - this.capacity;
  }
}

export const slidingWindow: AlgorithmKind = {
  name: 'sliding-window',
  aliases: ['sliding-window-log'],
  takesBurst: false,
  growsWithLimit: true,
  largestInteger: ({ limit }) => limit,
  nearestExact: () => `limit ${EXACT_BOUND - 1}`,
  create: (rule) => new SlidingWindow(rule),
};
