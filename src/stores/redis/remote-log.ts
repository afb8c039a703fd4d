import type { Algorithm, Cells, View } from '../../core/algorithms/index.js';

const FRESH_AT = 0;
const COUNT = 1;
const OLDEST_LEAVES = 2;
const FITS_AT = 3;

/**
 * The arithmetic of a log whose times are elsewhere: known are how many count, when the oldest
 * leaves, when all have left, and when the one cost fits that was asked for. True until the oldest
 * has left.
 */
export class RemoteLog implements Algorithm {
  readonly width = 4;
  readonly weight = 2;

  constructor(
    readonly capacity: number,
    readonly fillMillis: number,
  ) {}

  decide(cells: Cells, at: number, now: number, cost: number, take: boolean, view: View): number {
    const { capacity, fillMillis } = this;
    let count = cells[at + COUNT]!;
    const wait = count + cost <= capacity ? 0 : cells[at + FITS_AT]! - now;
    if (take && wait === 0) {
      if (count === 0) cells[at + OLDEST_LEAVES] = now + fillMillis;
      cells[at + FRESH_AT] = now + fillMillis;
      count += cost;
      cells[at + COUNT] = count;
    }
    view.remaining = Math.max(0, capacity - count);
    view.resetAfter = count === 0 ? 0 : cells[at + FRESH_AT]! - now;
    view.moreAfter = count === 0 ? 0 : cells[at + OLDEST_LEAVES]! - now;
    return wait;
  }

  /** The rest is done where the times are. */
  giveBack(): void {}

  charge(): number {
    return 0;
  }

  resize(): void {}
}
