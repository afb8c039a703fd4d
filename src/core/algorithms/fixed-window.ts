/*
 * Fixed window
 *
 *   │■■■  3/3│■  1/3  │        │     boxes of the clock: box = ⌊now / window⌋
 *   0       10       20       30 s
 *
 * A request counts in the box it falls into; the box of the clock, not of the first request, so
 * that every instance agrees on it. `cost` fits when count + cost ≤ limit, else it fits in the
 * next box: the wait is what is left of this one, and one ms less is still this one.
 *
 * Known weakness: `limit` at the end of a box and `limit` at the start of the next all pass, so
 * up to 2 × limit in any one window. Two numbers a key; every operation O(1).
 */
import type { Algorithm, AlgorithmKind, Cells, RuleNumbers } from './algorithm.js';
import { EXACT_BOUND } from './integers.js';

const BOX = 0;
const COUNT = 1;

class FixedWindow implements Algorithm {
  readonly capacity: number;
  readonly fillMillis: number;
  readonly width = 2;

  constructor({ limit, windowMillis }: RuleNumbers) {
    this.capacity = limit;
    this.fillMillis = windowMillis;
  }

  wait(cells: Cells, at: number, now: number, cost: number): number {
    return this.count(cells, at, now) + cost <= this.capacity ? 0 : this.left(now);
  }

  take(cells: Cells, at: number, now: number, cost: number): void {
    const count = this.count(cells, at, now) + cost;
    cells[at + BOX] = this.box(now);
    cells[at + COUNT] = count;
  }

  remaining(cells: Cells, at: number, now: number): number {
    return Math.max(0, this.capacity - this.count(cells, at, now));
  }

  resetAfter(cells: Cells, at: number, now: number): number {
    return this.count(cells, at, now) === 0 ? 0 : this.left(now);
  }

  moreAfter(cells: Cells, at: number, now: number): number {
    return this.resetAfter(cells, at, now);
  }

  freshAt(cells: Cells, at: number): number {
    return cells[at + COUNT] === 0 ? 0 : (cells[at + BOX]! + 1) * this.fillMillis;
  }

  giveBack(cells: Cells, at: number, now: number, count: number, takenAt: number): void {
    if (this.box(takenAt) !== this.box(now)) return;
    const left = Math.max(0, this.count(cells, at, now) - count);
    cells[at + BOX] = this.box(now);
    cells[at + COUNT] = left;
  }

  charge(cells: Cells, at: number, now: number, count: number): number {
    const charged = Math.min(count, this.remaining(cells, at, now));
    this.take(cells, at, now, charged);
    return charged;
  }

  resize(old: Cells): Cells {
    return old;
  }

  /** A box ahead of the clock counts as this one: a count is never lost to a step of time. */
  private count(cells: Cells, at: number, now: number): number {
    return cells[at + BOX]! >= this.box(now) ? cells[at + COUNT]! : 0;
  }

  private box(now: number): number {
    return (now - (now % this.fillMillis)) / this.fillMillis;
  }

  private left(now: number): number {
    return this.fillMillis - (now % this.fillMillis);
  }
}

export const fixedWindow: AlgorithmKind = {
  name: 'fixed-window',
  aliases: [],
  takesBurst: false,
  growsWithLimit: false,
  largestInteger: ({ limit }) => limit,
  nearestExact: () => `limit ${EXACT_BOUND - 1}`,
  create: (rule) => new FixedWindow(rule),
};
