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
 * Worst case in any window: just under 2 × limit (all of the previous box at its end, then what
 * an even spread would have freed). Three numbers a key; every operation O(1).
 */
import type { Algorithm, AlgorithmKind, Cells, RuleNumbers } from './algorithm.js';
import { ceilDiv, EXACT_BOUND } from './integers.js';

const BOX = 0;
const CURRENT = 1;
const PREVIOUS = 2;

class SlidingWindowCounter implements Algorithm {
  readonly capacity: number;
  readonly fillMillis: number;
  readonly width = 3;

  constructor({ limit, windowMillis }: RuleNumbers) {
    this.capacity = limit;
    this.fillMillis = windowMillis;
  }

  wait(cells: Cells, at: number, now: number, cost: number): number {
    const W = this.fillMillis;
    const elapsed = now % W;
    const previous = this.previous(cells, at, now);
    const current = this.current(cells, at, now);
    const room = this.capacity - current - cost;
    if (room >= 0) {
      if (previous * (W - elapsed) <= room * W) return 0;
      const at = ceilDiv((previous - room) * W, previous);
      if (at < W) return at - elapsed;
    }
    const over = current - (this.capacity - cost);
    return W - elapsed + (over > 0 ? ceilDiv(over * W, current) : 0);
  }

  take(cells: Cells, at: number, now: number, cost: number): void {
    this.write(cells, at, now, this.previous(cells, at, now), this.current(cells, at, now) + cost);
  }

  remaining(cells: Cells, at: number, now: number): number {
    const W = this.fillMillis;
    const weighed = ceilDiv(this.previous(cells, at, now) * (W - (now % W)), W);
    return Math.max(0, this.capacity - this.current(cells, at, now) - weighed);
  }

  resetAfter(cells: Cells, at: number, now: number): number {
    const left = this.fillMillis - (now % this.fillMillis);
    if (this.current(cells, at, now) > 0) return left + this.fillMillis;
    return this.previous(cells, at, now) > 0 ? left : 0;
  }

  moreAfter(cells: Cells, at: number, now: number): number {
    const remaining = this.remaining(cells, at, now);
    return remaining >= this.capacity ? 0 : this.wait(cells, at, now, remaining + 1);
  }

  freshAt(cells: Cells, at: number): number {
    const boxes = cells[at + CURRENT]! > 0 ? 2 : cells[at + PREVIOUS]! > 0 ? 1 : 0;
    return boxes === 0 ? 0 : (cells[at + BOX]! + boxes) * this.fillMillis;
  }

  giveBack(cells: Cells, at: number, now: number, count: number, takenAt: number): void {
    const age = this.box(now) - this.box(takenAt);
    const previous = this.previous(cells, at, now);
    const current = this.current(cells, at, now);
    if (age === 0) this.write(cells, at, now, previous, Math.max(0, current - count));
    if (age === 1) this.write(cells, at, now, Math.max(0, previous - count), current);
  }

  charge(cells: Cells, at: number, now: number, count: number): number {
    const charged = Math.min(count, this.remaining(cells, at, now));
    this.take(cells, at, now, charged);
    return charged;
  }

  resize(old: Cells): Cells {
    return old;
  }

  private current(cells: Cells, at: number, now: number): number {
    return cells[at + BOX]! >= this.box(now) ? cells[at + CURRENT]! : 0;
  }

  private previous(cells: Cells, at: number, now: number): number {
    const age = this.box(now) - cells[at + BOX]!;
    if (age <= 0) return cells[at + PREVIOUS]!;
    return age === 1 ? cells[at + CURRENT]! : 0;
  }

  private write(cells: Cells, at: number, now: number, previous: number, current: number): void {
    cells[at + BOX] = this.box(now);
    cells[at + CURRENT] = current;
    cells[at + PREVIOUS] = previous;
  }

  private box(now: number): number {
    return (now - (now % this.fillMillis)) / this.fillMillis;
  }
}

export const slidingWindowCounter: AlgorithmKind = {
  name: 'sliding-window-counter',
  aliases: [],
  takesBurst: false,
  growsWithLimit: false,
  largestInteger: ({ limit, windowMillis }) => limit * windowMillis,
  nearestExact: ({ windowMillis }) => `limit ${Math.ceil(EXACT_BOUND / windowMillis) - 1}`,
  create: (rule) => new SlidingWindowCounter(rule),
};
