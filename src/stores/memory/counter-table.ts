/*
 * A fixed set-associative table of counters in one block of memory.
 *
 *   hash ──┬─► set A  [ 8 tags │ 8 × cells ]     tag:   63 bits of hash, 1 mark    8 bytes
 *          └─► set B  [ 8 tags │ 8 × cells ]     cells: of the algorithm           8 bytes each
 *
 * A key may stand in any of 16 slots. Cell 0 of every algorithm is the moment from which its
 * counter is as good as new, and one that is as good as new is as good as none: its slot is free,
 * with no timer and no sweep. No key text is kept and nothing grows; the operating system gives the
 * memory page by page as it is touched. A set lies in one piece: from 100,000 keys on, most of a
 * decision is waiting for memory.
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

const WAYS_BITS = 3;
const WAYS = 1 << WAYS_BITS;
const WAY = WAYS - 1;
const MARK = 1;

export class CounterTable {
  /** Numbers of all slots; those of one begin at `cellsOf` it. */
  readonly cells: Cells;
  /** Slots of the table. */
  readonly size: number;
  /** The same memory as `cells`, for the tags. */
  private readonly tags: Int32Array;
  private readonly ways: number;
  /** Numbers of a set: its tags, of one number each, and its cells. */
  private readonly stride: number;
  /** Sets per unit of a 32-bit hash. */
  private readonly scale: number;
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: what is read ahead must go somewhere
  private ahead = 0;
  /** What the last scan of a set found. */
  private freeSlots = 0;
  private nearest = -1;
  private nearestFreshAt = 0;

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
    this.stride = this.ways * (1 + width);
    // Shared with nobody: but the collector takes a large block of the common kind for garbage that
    // piles up, and marks the whole heap for it, again and again.
    this.cells = new Float64Array(new SharedArrayBuffer(8 * sets * this.stride));
    this.tags = new Int32Array(this.cells.buffer);
  }

  /**
   * The slot that has this hash; -1 when none has. It may be fresh.
   *
   * In a large table every set is far away, so the memory of both is asked for before any of it is
   * looked at: the processor fetches it side by side and not one after the other.
   */
  find(lo: number, hi: number): number {
    const { tags, ways } = this;
    const first = this.firstSet(lo);
    const second = this.secondSet(lo, hi);
    const inFirst = this.tagOf(first);
    const inSecond = this.tagOf(second);
    this.ahead = tags[inSecond]! + this.readAhead(first) + this.readAhead(second);
    const want = hi | MARK;
    for (let way = 0; way < ways; way++) {
      const tag = inFirst + 2 * way;
      if (tags[tag] === lo && (tags[tag + 1]! | MARK) === want) return first + way;
    }
    for (let way = 0; way < ways; way++) {
      const tag = inSecond + 2 * way;
      if (tags[tag] === lo && (tags[tag + 1]! | MARK) === want) return second + way;
    }
    return -1;
  }

  /** Where the cells of a slot begin. */
  cellsOf(slot: number): number {
    return (slot >> WAYS_BITS) * this.stride + this.ways + (slot & WAY) * this.width;
  }

  /** Whether that slot still has this hash. */
  holds(slot: number, lo: number, hi: number): boolean {
    const tag = this.tagOf(slot);
    return this.tags[tag] === lo && (this.tags[tag + 1]! | MARK) === (hi | MARK);
  }

  /**
   * A slot for a hash that has none: a free one, from the set that has more of them, so that both
   * fill evenly; else the one that gives way. Its cells are zero.
   */
  claim(lo: number, hi: number, now: number): number {
    const slot = this.choose(this.firstSet(lo), this.secondSet(lo, hi), now);
    this.clear(slot);
    const tag = this.tagOf(slot);
    this.tags[tag] = lo;
    this.tags[tag + 1] = hi & ~MARK;
    return slot;
  }

  /** Notes whether the counter in that slot has nothing left. */
  mark(slot: number, atLimit: boolean): void {
    const at = this.tagOf(slot) + 1;
    const tag = this.tags[at]!;
    if (((tag & MARK) !== 0) !== atLimit) this.tags[at] = tag ^ MARK;
  }

  /** Makes a slot as good as new. */
  free(slot: number): void {
    this.clear(slot);
    this.mark(slot, false);
  }

  /** Bytes set aside, whether touched yet or not. */
  get bytes(): number {
    return this.cells.byteLength;
  }

  /** Live counters; of tables above 2^16 slots an estimate from that many of them. */
  inUse(now: number): number {
    const step = Math.floor(this.size / 2 ** 16) | 1; // odd: not always the same place of a set
    let live = 0;
    let seen = 0;
    for (let slot = 0; slot < this.size; slot += step, seen++) {
      if (this.cells[this.cellsOf(slot)]! > now) live++;
    }
    return Math.round((live / seen) * this.size);
  }

  private choose(first: number, second: number, now: number): number {
    this.scan(first, now);
    if (this.freeSlots === this.ways) return first;
    const { freeSlots, nearest, nearestFreshAt } = this;
    this.scan(second, now);
    if (freeSlots > 0 || this.freeSlots > 0) {
      return freeSlots >= this.freeSlots ? nearest : this.nearest;
    }
    const atLimit = nearest < 0 && this.nearest < 0;
    this.onEviction(atLimit);
    if (atLimit) return this.nearestMarked(first, second);
    if (nearest < 0) return this.nearest;
    return this.nearest < 0 || nearestFreshAt <= this.nearestFreshAt ? nearest : this.nearest;
  }

  /** Counts the free slots of a set, and finds the one nearest to fresh that may give way. */
  private scan(set: number, now: number): void {
    const { cells, tags, width, ways } = this;
    let at = this.cellsOf(set);
    let tag = this.tagOf(set) + 1;
    let free = 0;
    let nearest = -1;
    let nearestFreshAt = Number.POSITIVE_INFINITY;
    for (let slot = set, end = set + ways; slot < end; slot++, at += width, tag += 2) {
      const freshAt = cells[at]!;
      if (freshAt <= now) free++;
      else if ((tags[tag]! & MARK) !== 0) continue;
      if (freshAt < nearestFreshAt) {
        nearest = slot;
        nearestFreshAt = freshAt;
      }
    }
    this.freeSlots = free;
    this.nearest = nearest;
    this.nearestFreshAt = nearestFreshAt;
  }

  /** Of slots that are all at their limit. */
  private nearestMarked(first: number, second: number): number {
    let nearest = first;
    for (let i = 1; i < 2 * this.ways; i++) {
      const slot = i < this.ways ? first + i : second + i - this.ways;
      if (this.cells[this.cellsOf(slot)]! < this.cells[this.cellsOf(nearest)]!) nearest = slot;
    }
    return nearest;
  }

  private clear(slot: number): void {
    const at = this.cellsOf(slot);
    for (let i = 0; i < this.width; i++) this.cells[at + i] = 0;
  }

  /** Something of both halves of a set's cells: with small counters they are two lines of cache. */
  private readAhead(set: number): number {
    const at = this.cellsOf(set);
    return this.cells[at]! + this.cells[at + (this.ways >> 1) * this.width]!;
  }

  /** Where the tag of a slot stands, as an index of `tags`. */
  private tagOf(slot: number): number {
    return 2 * ((slot >> WAYS_BITS) * this.stride + (slot & WAY));
  }

  /** The first slot of a set. Sets of fewer than 8 are alone in their table. */
  private firstSet(lo: number): number {
    return Math.floor((lo >>> 0) * this.scale) << WAYS_BITS;
  }

  /** From bits that the first choice did not use. */
  private secondSet(lo: number, hi: number): number {
    return Math.floor((Math.imul(hi ^ (lo >>> 7), 0x9e3779b1) >>> 0) * this.scale) << WAYS_BITS;
  }
}
