/*
 * A fixed set-associative table of counters in typed arrays.
 *
 *   hash ──┬─► set A  [ 8 slots ]      a slot:  tag (63 bits of hash, 1 mark)   8 bytes
 *          └─► set B  [ 8 slots ]               cells of the algorithm          8 bytes each
 *
 * A key may stand in any of 16 slots. Cell 0 of every algorithm is the moment from which its
 * counter is as good as new, and one that is as good as new is as good as none: its slot is free,
 * with no timer and no sweep. No key text is kept and nothing grows; the operating system gives the
 * memory page by page as it is touched.
 *
 * When all 16 slots are live, one gives way: the one nearest to fresh, since it forgets least; but
 * never one that was at its limit (the mark) before one that was not. So a flood of keys below
 * their limit cannot reset an abuser. A mark says that nothing was left at the last request; it is
 * on the safe side until the counter is fresh.
 *
 * Two live keys share a counter only when 63 bits of a keyed hash agree: with a million keys once
 * in 2 × 10^7 tables, and nobody can look for such keys without the hash's key.
 */
import type { Cells } from '../../core/algorithms/index.js';

const WAYS = 8;
const MARK = 1;

export class CounterTable {
  /** Numbers of all slots; slot s has `width` of them from `s * width` on. */
  readonly cells: Cells;
  /** Slots of the table. */
  readonly size: number;
  private readonly tags: Int32Array;
  private readonly ways: number;
  /** Sets per unit of a 32-bit hash. */
  private readonly scale: number;

  /**
   * @param width cells of a counter
   * @param capacity how many counters at most, at least 1
   * @param onEviction told when a live counter gave way, and whether it was at its limit
   */
  constructor(
    readonly width: number,
    capacity: number,
    private readonly onEviction: (atLimit: boolean) => void,
  ) {
    this.ways = Math.min(WAYS, capacity);
    const sets = Math.floor(capacity / this.ways);
    this.size = sets * this.ways;
    this.scale = sets / 2 ** 32;
    this.tags = new Int32Array(2 * this.size);
    this.cells = new Float64Array(width * this.size);
  }

  /** The slot that has this hash; -1 when none has. It may be fresh. */
  find(lo: number, hi: number): number {
    const { tags } = this;
    const want = hi | MARK;
    const first = this.firstSet(lo);
    for (let slot = first, end = first + this.ways; slot < end; slot++) {
      if (tags[2 * slot] === lo && (tags[2 * slot + 1]! | MARK) === want) return slot;
    }
    const second = this.secondSet(lo, hi);
    for (let slot = second, end = second + this.ways; slot < end; slot++) {
      if (tags[2 * slot] === lo && (tags[2 * slot + 1]! | MARK) === want) return slot;
    }
    return -1;
  }

  /** Whether that slot still has this hash. */
  holds(slot: number, lo: number, hi: number): boolean {
    return this.tags[2 * slot] === lo && (this.tags[2 * slot + 1]! | MARK) === (hi | MARK);
  }

  /**
   * A slot for a hash that has none: a free one, from the set that has more of them, so that both
   * fill evenly; else the one that gives way. Its cells are zero.
   */
  claim(lo: number, hi: number, now: number): number {
    const first = this.firstSet(lo);
    const second = this.secondSet(lo, hi);
    const inFirst = this.countFree(first, now);
    const inSecond = inFirst === this.ways ? 0 : this.countFree(second, now);
    const slot =
      inFirst + inSecond > 0
        ? this.freeSlot(inFirst >= inSecond ? first : second, now)
        : this.evict(first, second);
    this.cells.fill(0, slot * this.width, (slot + 1) * this.width);
    this.tags[2 * slot] = lo;
    this.tags[2 * slot + 1] = hi & ~MARK;
    return slot;
  }

  /** Notes whether the counter in that slot has nothing left. */
  mark(slot: number, atLimit: boolean): void {
    const tag = this.tags[2 * slot + 1]!;
    if (((tag & MARK) !== 0) !== atLimit) this.tags[2 * slot + 1] = tag ^ MARK;
  }

  /** Makes a slot as good as new. */
  free(slot: number): void {
    this.cells.fill(0, slot * this.width, (slot + 1) * this.width);
    this.mark(slot, false);
  }

  /** Bytes set aside, whether touched yet or not. */
  get bytes(): number {
    return this.tags.byteLength + this.cells.byteLength;
  }

  /** Live counters; of tables above 2^16 slots an estimate from that many of them. */
  inUse(now: number): number {
    const step = Math.floor(this.size / 2 ** 16) | 1; // odd: not always the same place of a set
    let live = 0;
    let seen = 0;
    for (let slot = 0; slot < this.size; slot += step, seen++) {
      if (this.cells[slot * this.width]! > now) live++;
    }
    return Math.round((live / seen) * this.size);
  }

  private countFree(set: number, now: number): number {
    const { cells, width } = this;
    let free = 0;
    for (let slot = set, end = set + this.ways; slot < end; slot++) {
      if (cells[slot * width]! <= now) free++;
    }
    return free;
  }

  private freeSlot(set: number, now: number): number {
    let slot = set;
    while (this.cells[slot * this.width]! > now) slot++;
    return slot;
  }

  /** The unmarked slot that is nearest to fresh, of both sets; a marked one only if all are. */
  private evict(first: number, second: number): number {
    const { cells, tags, ways, width } = this;
    let victim = -1;
    let victimFresh = Number.POSITIVE_INFINITY;
    let victimMarked = true;
    for (let i = 0; i < 2 * ways; i++) {
      const slot = i < ways ? first + i : second + i - ways;
      const freshAt = cells[slot * width]!;
      const marked = (tags[2 * slot + 1]! & MARK) !== 0;
      const better = marked === victimMarked ? freshAt < victimFresh : victimMarked;
      if (!better) continue;
      victim = slot;
      victimFresh = freshAt;
      victimMarked = marked;
    }
    this.onEviction(victimMarked);
    return victim;
  }

  private firstSet(lo: number): number {
    return Math.floor((lo >>> 0) * this.scale) * this.ways;
  }

  /** From bits that the first choice did not use. */
  private secondSet(lo: number, hi: number): number {
    return Math.floor((Math.imul(hi ^ (lo >>> 7), 0x9e3779b1) >>> 0) * this.scale) * this.ways;
  }
}
