/*
 * Sliding window counter
 *
 *      previous = 8          current = 3        used = previous · (W − e)/W + current
 *   │■■■■■■■■          │■■■   ·          │
 *   │        ├─────────┼──────┤ now
 *                       └ e = now mod W
 *
 * Two counts stand for the log: the previous box is taken as if its requests had been spread
 * evenly, so it weighs as much as the window still reaches into it. Compared in integers, both
 * sides times W: `cost` fits when previous·(W − e) ≤ (limit − current − cost)·W.
 *
 * The hint: within this box, previous·(W − e') ≤ room·W gives e' = ⌈(previous − room)·W / previous⌉;
 * if that is past the box's end, current has become previous and the same is asked in the next
 * box with current 0, where room is limit − cost. Used never grows by itself, so one ms less
 * is too early.
 *
 * Kept are both counts and the moment when neither matters any more, which tells their box: two
 * boxes ahead of its start while current is above 0, else one.
 *
 * Worst case in any window: just under 2 × limit (all of the previous box at its end, then what
 * an even spread would have freed). Three numbers a key; every operation O(1).
 */
import type { Algorithm, AlgorithmKind, Cells, RuleNumbers, View } from './algorithm.js';
import { ceilDiv, EXACT_BOUND, multipleBelow } from './integers.js';

const FRESH_AT = 0;
const CURRENT = 1;
const PREVIOUS = 2;

class SlidingWindowCounter implements Algorithm {
  readonly capacity: number;
  readonly fillMillis: number;
  readonly width = 3;
  readonly weight = 1;

  constructor({ limit, windowMillis }: RuleNumbers) {
    this.capacity = limit;
    this.fillMillis = windowMillis;
  }

  decide(cells: Cells, at: number, now: number, cost: number, take: boolean, view: View): number {
    const { capacity, fillMillis } = this;
    const box = multipleBelow(now, fillMillis);
    const left = box + fillMillis - now;
    const previous = this.previous(cells, at, now);
    let current = this.current(cells, at, now);
    const wait = this.waitFor(left, previous, current, cost);
    if (take && wait === 0) {
      current += cost;
      this.write(cells, at, box, previous, current);
    }
    const remaining = this.room(previous, current, left);
    view.remaining = remaining;
    view.resetAfter = current > 0 ? left + fillMillis : previous > 0 ? left : 0;
    view.moreAfter =
      remaining >= capacity ? 0 : this.waitFor(left, previous, current, remaining + 1);
    return wait;
  }

  giveBack(cells: Cells, at: number, now: number, count: number, takenAt: number): void {
    const box = multipleBelow(now, this.fillMillis);
    const previous = this.previous(cells, at, now);
    const current = this.current(cells, at, now);
    if (takenAt >= box) this.write(cells, at, box, previous, Math.max(0, current - count));
    else if (takenAt >= box - this.fillMillis) {
      this.write(cells, at, box, Math.max(0, previous - count), current);
    }
  }

  charge(cells: Cells, at: number, now: number, count: number): number {
    const box = multipleBelow(now, this.fillMillis);
    const previous = this.previous(cells, at, now);
    const current = this.current(cells, at, now);
    const charged = Math.min(count, this.room(previous, current, box + this.fillMillis - now));
    if (charged > 0) this.write(cells, at, box, previous, current + charged);
    return charged;
  }

  resize(): void {}

  private room(previous: number, current: number, left: number): number {
    const weighed = previous === 0 ? 0 : ceilDiv(previous * left, this.fillMillis);
    return Math.max(0, this.capacity - current - weighed);
  }

  /** @param left milliseconds of this box: W − e */
  private waitFor(left: number, previous: number, current: number, cost: number): number {
    const W = this.fillMillis;
    const room = this.capacity - current - cost;
    if (room >= 0) {
      if (previous * left <= room * W) return 0;
      const fitsAt = ceilDiv((previous - room) * W, previous);
      if (fitsAt < W) return fitsAt - (W - left);
    }
    const over = current - (this.capacity - cost);
    return left + (over > 0 ? ceilDiv(over * W, current) : 0);
  }

  /** Whether the box that was written as the current one has become the previous. */
  private rolled(cells: Cells, at: number, now: number): boolean {
    return cells[at + CURRENT]! > 0 && now >= cells[at + FRESH_AT]! - this.fillMillis;
  }

  private current(cells: Cells, at: number, now: number): number {
    if (cells[at + FRESH_AT]! <= now || this.rolled(cells, at, now)) return 0;
    return cells[at + CURRENT]!;
  }

  private previous(cells: Cells, at: number, now: number): number {
    if (cells[at + FRESH_AT]! <= now) return 0;
    return cells[at + (this.rolled(cells, at, now) ? CURRENT : PREVIOUS)]!;
  }

  /** The current box counts until the end of the next, the previous until the end of this one. */
  private write(cells: Cells, at: number, box: number, previous: number, current: number): void {
    const boxes = current > 0 ? 2 : previous > 0 ? 1 : 0;
    cells[at + FRESH_AT] = boxes === 0 ? 0 : box + boxes * this.fillMillis;
    cells[at + CURRENT] = current;
    cells[at + PREVIOUS] = previous;
  }
}

export const slidingWindowCounter: AlgorithmKind = {
  name: 'sliding-window-counter',
  aliases: [],
  takesBurst: false,
  growsWithLimit: false,
  fades: true,
  largestInteger: ({ limit, windowMillis }) => limit * windowMillis,
  nearestExact: ({ windowMillis }) => `limit ${Math.ceil(EXACT_BOUND / windowMillis) - 1}`,
  create: (rule) => new SlidingWindowCounter(rule),
};
