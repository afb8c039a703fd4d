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
 * Kept are the end of the box and its count: once the end has passed, nothing counts. A box ahead of
 * the clock counts as this one, so a count is never lost to a step of time.
 *
 * Known weakness: `limit` at the end of a box and `limit` at the start of the next all pass, so
 * up to 2 × limit in any one window. Two numbers a key; every operation O(1).
 */
import type { Algorithm, AlgorithmKind, Cells, RuleNumbers, View } from './algorithm.js';
import { EXACT_BOUND, multipleBelow } from './integers.js';

const END = 0;
const COUNT = 1;

class FixedWindow implements Algorithm {
  readonly capacity: number;
  readonly fillMillis: number;
  readonly width = 2;
  readonly weight = 1;

  constructor({ limit, windowMillis }: RuleNumbers) {
    this.capacity = limit;
    this.fillMillis = windowMillis;
  }

  decide(cells: Cells, at: number, now: number, cost: number, take: boolean, view: View): number {
    const { capacity } = this;
    let left = Math.max(0, cells[at + END]! - now);
    let count = left > 0 ? cells[at + COUNT]! : 0;
    const wait = count + cost <= capacity ? 0 : left;
    if (take && wait === 0) {
      this.take(cells, at, now, cost);
      count += cost;
      left = cells[at + END]! - now;
    }
    view.remaining = Math.max(0, capacity - count);
    view.resetAfter = left;
    view.moreAfter = left;
    return wait;
  }

  giveBack(cells: Cells, at: number, now: number, count: number, takenAt: number): void {
    const end = cells[at + END]!;
    if (end <= now || takenAt < end - this.fillMillis) return;
    const left = Math.max(0, cells[at + COUNT]! - count);
    cells[at + COUNT] = left;
    if (left === 0) cells[at + END] = 0;
  }

  charge(cells: Cells, at: number, now: number, count: number): number {
    const counted = cells[at + END]! > now ? cells[at + COUNT]! : 0;
    const charged = Math.min(count, Math.max(0, this.capacity - counted));
    if (charged > 0) this.take(cells, at, now, charged);
    return charged;
  }

  resize(): void {}

  private take(cells: Cells, at: number, now: number, cost: number): void {
    if (cells[at + END]! > now) cells[at + COUNT]! += cost;
    else {
      cells[at + END] = multipleBelow(now, this.fillMillis) + this.fillMillis;
      cells[at + COUNT] = cost;
    }
  }
}

export const fixedWindow: AlgorithmKind = {
  name: 'fixed-window',
  aliases: [],
  takesBurst: false,
  growsWithLimit: false,
  fades: false,
  largestInteger: ({ limit }) => limit,
  nearestExact: () => `limit ${EXACT_BOUND - 1}`,
  create: (rule) => new FixedWindow(rule),
};
