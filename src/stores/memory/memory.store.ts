import type { Cells, View } from '../../core/algorithms/index.js';
import type { Counter, CounterPlan } from '../../core/counter-plan.js';
import {
  blockedDecision,
  type Decision,
  decisionOf,
  joinDecisions,
  type RuleDecision,
  ruleDecisionOf,
  waitFor,
} from '../../core/decision.js';
import { KeyedHash } from '../../core/keyed-hash.js';
import { type Outcome, type Receipt, type StoreEntry, SynchronousStore } from '../../core/store.js';
import { BlockList } from './block-list.js';
import { type Home, TableSet } from './table-set.js';

export interface MemoryStoreOptions {
  /**
   * How many counters are kept at most, for each width of numbers: 1 … 2^26, default 1,000,000.
   * A token bucket or a fixed window takes 24 bytes, a sliding window counter 32; a log of n times
   * counts as ⌈n/3⌉ counters.
   */
  readonly maxKeys?: number;
}

/** A live counter gave way to another. */
export interface EvictionEvent {
  /** Whether it was at its limit: its key may ask anew. */
  readonly atLimit: boolean;
  /** How many gave way since the start. */
  readonly evicted: number;
  /** How many of them were at their limit. */
  readonly evictedAtLimit: number;
}

const LARGEST_MAX_KEYS = 2 ** 26;

/**
 * Counters in this process, at most `maxKeys`: bounded under any flood, with no timer, no sweep and
 * no text of a key kept. What happens at the bound is told in counter-table.ts.
 */
export class MemoryStore extends SynchronousStore {
  readonly name = 'memory';
  private readonly tables: TableSet;
  private readonly hash: KeyedHash;
  private readonly blocks = new BlockList();
  private readonly listeners = new Set<(event: EvictionEvent) => void>();
  private readonly view: View = { remaining: 0, resetAfter: 0, moreAfter: 0 };
  /** The cells of any counter that was never used. */
  private fresh: Cells = new Float64Array(8);
  private evictedCount = 0;
  private evictedAtLimitCount = 0;

  /** @throws RangeError when maxKeys is no whole number from 1 to 2^26 */
  constructor({ maxKeys = 1_000_000 }: MemoryStoreOptions = {}) {
    super();
    if (!(Number.isInteger(maxKeys) && maxKeys >= 1 && maxKeys <= LARGEST_MAX_KEYS)) {
      const given = `${typeof maxKeys} ${String(maxKeys)}`;
      throw new RangeError(`maxKeys is a whole number from 1 to ${LARGEST_MAX_KEYS}, got ${given}`);
    }
    this.tables = new TableSet(maxKeys, (atLimit) => this.countEviction(atLimit));
    const [k0 = 0, k1 = 0] = crypto.getRandomValues(new Int32Array(2));
    this.hash = new KeyedHash(k0, k1);
  }

  /** Live counters that gave way to others, since the start. */
  get evicted(): number {
    return this.evictedCount;
  }

  /** Those of them that were at their limit: then `maxKeys` is too small for what comes in. */
  get evictedAtLimit(): number {
    return this.evictedAtLimitCount;
  }

  /** Bytes set aside for counters, whether touched yet or not. */
  get bytes(): number {
    return this.tables.bytes;
  }

  /** Counters that are not as good as new; above 2^16 slots an estimate from as many. */
  slotsInUse(nowMillis: number): number {
    return this.tables.inUse(nowMillis);
  }

  /** Calls `listener` whenever a live counter gives way. @returns what stops it */
  onEviction(listener: (event: EvictionEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  decide(entries: readonly StoreEntry[], nowMillis: number): readonly Outcome[] {
    return entries.map((entry) => ({
      entry,
      takenAtMillis: nowMillis,
      decision: this.decideEntry(entry, nowMillis),
    }));
  }

  override decideKey(
    plan: CounterPlan,
    key: string,
    cost: number,
    mode: StoreEntry['mode'],
    nowMillis: number,
  ): Decision {
    if (this.blocks.size > 0) return super.decideKey(plan, key, cost, mode, nowMillis);
    this.hash.hash(plan.seedLo, plan.seedHi, key, undefined);
    return this.decideOne(plan, cost, mode === 'take', nowMillis);
  }

  settle({ entry, takenAtMillis }: Receipt, delta: number, nowMillis: number): number {
    let dropped = 0;
    for (const counter of entry.counters) {
      const { algorithm } = counter.plan;
      const home = this.hashOf(counter);
      const { lo, hi } = this.hash;
      let slot = this.find(home, counter.plan, nowMillis);
      if (slot < 0 && delta > 0) slot = home.table.claim(lo, hi, nowMillis);
      if (slot < 0) continue;
      const { cells, width } = home.table;
      const at = slot * width;
      if (delta < 0) algorithm.giveBack(cells, at, nowMillis, -delta, takenAtMillis);
      else dropped = Math.max(dropped, delta - algorithm.charge(cells, at, nowMillis, delta));
      this.look(home, counter.plan, slot, nowMillis);
    }
    return dropped;
  }

  reset(counters: readonly Counter[]): void {
    for (const counter of counters) {
      const { table, older } = this.hashOf(counter);
      for (const one of [table, ...older]) {
        const slot = one.find(this.hash.lo, this.hash.hi);
        if (slot >= 0) one.free(slot);
      }
    }
  }

  block(counters: readonly Counter[], untilMillis: number, nowMillis: number): void {
    for (const counter of counters) this.blocks.set(counter, untilMillis, nowMillis);
  }

  override close(): void {
    this.tables.clear();
    this.blocks.clear();
    this.listeners.clear();
  }

  private decideEntry({ counters, cost, mode }: StoreEntry, now: number): Decision {
    const blockedFor = this.blocks.size > 0 && cost > 0 ? this.blocks.left(counters, now) : 0;
    const take = mode === 'take' && blockedFor === 0;
    let decision: Decision;
    if (counters.length === 1) {
      this.hashOf(counters[0]!);
      decision = this.decideOne(counters[0]!.plan, cost, take, now);
    } else decision = this.decideJoined(counters, cost, take, now);
    return blockedFor > 0 ? blockedDecision(decision, blockedFor) : decision;
  }

  /** Decides by the counter whose hash was just made. */
  private decideOne(plan: CounterPlan, cost: number, take: boolean, now: number): Decision {
    const home = this.tables.homeOf(plan);
    const { table } = home;
    let slot = this.find(home, plan, now);
    const wait = this.wait(home, plan, slot, now, cost);
    if (take && wait === 0 && cost > 0) {
      if (slot < 0) slot = table.claim(this.hash.lo, this.hash.hi, now);
      plan.algorithm.take(table.cells, slot * table.width, now, cost);
    }
    this.look(home, plan, slot, now);
    return decisionOf(plan, wait, this.view);
  }

  /**
   * Asks all first and takes after. A slot that is claimed for one counter may be the one that
   * another of the same request had, so each is found anew before it takes.
   */
  private decideJoined(
    counters: readonly Counter[],
    cost: number,
    take: boolean,
    now: number,
  ): Decision {
    const waits = counters.map((counter) => {
      const home = this.hashOf(counter);
      return this.wait(home, counter.plan, this.find(home, counter.plan, now), now, cost);
    });
    const taking = take && cost > 0 && waits.every((wait) => wait === 0);
    const rules = counters.map((counter, i): RuleDecision => {
      const { plan } = counter;
      const home = this.hashOf(counter);
      let slot = this.find(home, plan, now);
      if (taking) {
        if (slot < 0) slot = home.table.claim(this.hash.lo, this.hash.hi, now);
        plan.algorithm.take(home.table.cells, slot * home.table.width, now, cost);
      }
      this.look(home, plan, slot, now);
      return ruleDecisionOf(plan, waits[i]!, this.view);
    });
    return joinDecisions(rules);
  }

  /** Hashes a counter's values; the result stays in `this.hash`. */
  private hashOf({ plan, values }: Counter): Home {
    this.hash.hash(plan.seedLo, plan.seedHi, values[0] ?? '', values);
    return this.tables.homeOf(plan);
  }

  /** The slot of the hash; a log that was kept under another limit moves in. -1: never used. */
  private find({ table, older }: Home, { algorithm }: CounterPlan, now: number): number {
    const { lo, hi } = this.hash;
    const slot = table.find(lo, hi);
    if (slot >= 0 || older.length === 0) return slot;
    for (const other of older) {
      const from = other.find(lo, hi);
      const oldAt = from * other.width;
      if (from < 0 || other.cells[oldAt]! <= now) continue;
      const to = table.claim(lo, hi, now);
      algorithm.resize(other.cells, oldAt, other.width, table.cells, to * table.width);
      other.free(from);
      return to;
    }
    return -1;
  }

  private wait({ table }: Home, plan: CounterPlan, slot: number, now: number, cost: number) {
    if (slot >= 0) return waitFor(plan, table.cells, slot * table.width, now, cost);
    return waitFor(plan, this.freshCells(plan), 0, now, cost);
  }

  private look({ table }: Home, plan: CounterPlan, slot: number, now: number): void {
    if (slot < 0) plan.algorithm.look(this.freshCells(plan), 0, now, this.view);
    else {
      plan.algorithm.look(table.cells, slot * table.width, now, this.view);
      table.mark(slot, this.view.remaining === 0);
    }
  }

  private freshCells({ algorithm }: CounterPlan): Cells {
    if (this.fresh.length < algorithm.width) this.fresh = new Float64Array(algorithm.width);
    return this.fresh;
  }

  private countEviction(atLimit: boolean): void {
    this.evictedCount++;
    if (atLimit) this.evictedAtLimitCount++;
    if (this.listeners.size === 0) return;
    const { evicted, evictedAtLimit } = this;
    for (const listener of this.listeners) listener({ atLimit, evicted, evictedAtLimit });
  }
}
