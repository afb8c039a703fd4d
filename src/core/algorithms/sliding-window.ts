/*
 * Sliding window (the exact log)
 *
 *        ├────────── window ──────────┤
 *   ─────┼──×───×──×───────────×──×───┤ now        × an accepted request
 *     ×  │  oldest that counts
 *     └ left the window: time + window ≤ now
 *
 * The times of the accepted requests, oldest first, in a ring of `limit` places (of more, if the
 * limit was larger when the ring was made: what was let in is kept). An entry counts
 * while time + window > now, so in no window are there more than `limit`: exact.
 *
 *   ring:  [ t5 t6 | t1 t2 t3 t4 ]     count = 6, oldest = 2
 *                    └ oldest
 *
 * With n entries in the ring (some of which may no longer count), `cost` fits once the
 * (n + cost − limit)-th oldest has left: one look tells the wait, whatever the cost, and one ms
 * less is too early. Only `remaining` has to find the oldest entry that counts: O(log limit),
 * as times never decrease. Memory: limit + 4 numbers a key.
 */
import type { Algorithm, AlgorithmKind, Cells, RuleNumbers, View } from './algorithm.js';
import { EXACT_BOUND } from './integers.js';

const FRESH_AT = 0;
const COUNT = 1;
const OLDEST = 2;
const SIZE = 3;
const RING = 4;

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
    const { capacity, fillMillis } = this;
    if (cells[at + SIZE]! < capacity) this.widen(cells, at);
    const size = cells[at + SIZE]! | 0;
    let oldest = cells[at + OLDEST]! | 0;
    let count = cells[at + COUNT]! | 0;
    const leave = count + cost - capacity;
    const wait = leave <= 0 ? 0 : timeAt(cells, at, oldest + leave - 1, size) + fillMillis - now;
    const fits = wait <= 0;
    if (fits && take) {
      count = this.take(cells, at, now, count, cost);
      oldest = cells[at + OLDEST]! | 0;
    }
    if (count === 0) {
      view.remaining = capacity;
      view.resetAfter = 0;
      view.moreAfter = 0;
      return fits ? 0 : wait;
    }
    const oldestLeft = cells[at + RING + oldest]! + fillMillis - now;
    const gone = oldestLeft > 0 ? 0 : this.gone(cells, at, now);
    view.remaining = Math.max(0, capacity - count + gone);
    view.resetAfter = Math.max(0, cells[at + FRESH_AT]! - now);
    if (gone === count) view.moreAfter = 0;
    else view.moreAfter = gone === 0 ? oldestLeft : this.left(cells, at, now, gone);
    return fits ? 0 : wait;
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
      else cells[at + RING + this.place(cells, at, kept++)] = time;
    }
    cells[at + COUNT] = kept;
    cells[at + FRESH_AT] = kept === 0 ? 0 : this.time(cells, at, kept - 1) + this.fillMillis;
  }

  charge(cells: Cells, at: number, now: number, count: number): number {
    if (cells[at + SIZE]! < this.capacity) this.widen(cells, at);
    const counted = cells[at + COUNT]! - this.gone(cells, at, now);
    const charged = Math.min(count, Math.max(0, this.capacity - counted));
    if (charged > 0) this.take(cells, at, now, cells[at + COUNT]! | 0, charged);
    return charged;
  }

  resize(old: Cells, oldAt: number, cells: Cells, at: number): void {
    const count = old[oldAt + COUNT]!;
    for (let i = 0; i < count; i++) cells[at + RING + i] = this.time(old, oldAt, i);
    cells[at + FRESH_AT] = old[oldAt + FRESH_AT]!;
    cells[at + COUNT] = count;
    // A smaller rule may be the one that finds it in the old place.
    cells[at + SIZE] = Math.max(this.capacity, old[oldAt + SIZE]!);
  }

  /** A ring that was made for a smaller limit, in cells that have room for this one. */
  private widen(cells: Cells, at: number): void {
    if (cells[at + COUNT] === 0) return;
    this.resize(cells.slice(at, at + RING + cells[at + SIZE]!), 0, cells, at);
    cells[at + OLDEST] = 0;
  }

  /** Answers how many entries the ring then has: the oldest make room, if there is none. */
  private take(cells: Cells, at: number, now: number, had: number, cost: number): number {
    let count = had;
    if (count === 0) {
      // An empty ring begins anew: where it began may lie outside of one of this size.
      cells[at + SIZE] = this.capacity;
      cells[at + OLDEST] = 0;
    }
    const size = cells[at + SIZE]! | 0;
    let next = (cells[at + OLDEST]! | 0) + count;
    if (next >= size) next -= size;
    const leave = count + cost - size;
    if (leave > 0) {
      const oldest = (cells[at + OLDEST]! | 0) + leave;
      cells[at + OLDEST] = oldest < size ? oldest : oldest - size;
      count -= leave;
    }
    for (let i = 0; i < cost; i++) {
      cells[at + RING + next] = now;
      next = next + 1 < size ? next + 1 : 0;
    }
    cells[at + FRESH_AT] = now + this.fillMillis;
    cells[at + COUNT] = count + cost;
    return count + cost;
  }

  /** How many of the ring's entries, oldest first, no longer count. */
  private gone(cells: Cells, at: number, now: number): number {
    let low = 0;
    let high = cells[at + COUNT]! | 0;
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
    return cells[at + RING + this.place(cells, at, i)]!;
  }

  /** Where the i-th oldest entry stands: below twice the ring, so a subtraction does. */
  private place(cells: Cells, at: number, i: number): number {
    const index = (cells[at + OLDEST]! | 0) + i;
    const size = cells[at + SIZE]! | 0;
    return index < size ? index : index - size;
  }
}

function timeAt(cells: Cells, at: number, i: number, size: number): number {
  return cells[at + RING + (i < size ? i : i - size)]!;
}

export const slidingWindow: AlgorithmKind = {
  name: 'sliding-window',
  aliases: ['sliding-window-log'],
  takesBurst: false,
  growsWithLimit: true,
  fades: false,
  largestInteger: ({ limit }) => limit,
  nearestExact: () => `limit ${EXACT_BOUND - 1}`,
  create: (rule) => new SlidingWindow(rule),
};
