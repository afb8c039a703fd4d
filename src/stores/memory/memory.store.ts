import type { Counter, CounterPlan } from '../../core/counter-plan.js';
import { blockedDecision, type Decision } from '../../core/decision.js';
import { type Outcome, type Receipt, type StoreEntry, SynchronousStore } from '../../core/store.js';
import { BlockList } from './block-list.js';
import { Counters } from './counters.js';

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
 *
 * The memory is set aside at the first decision and freed by `close`.
 */
export class MemoryStore extends SynchronousStore {
  readonly name = 'memory';
  private readonly maxKeys: number;
  private readonly blocks = new BlockList();
  private readonly listeners = new Set<(event: EvictionEvent) => void>();
  private counters: Counters;
  private evictedCount = 0;
  private evictedAtLimitCount = 0;

  /** @throws RangeError when maxKeys is no whole number from 1 to 2^26 */
  constructor({ maxKeys = 1_000_000 }: MemoryStoreOptions = {}) {
    super();
    if (!(Number.isInteger(maxKeys) && maxKeys >= 1 && maxKeys <= LARGEST_MAX_KEYS)) {
      const given = `${typeof maxKeys} ${String(maxKeys)}`;
      throw new RangeError(`maxKeys is a whole number from 1 to ${LARGEST_MAX_KEYS}, got ${given}`);
    }
    this.maxKeys = maxKeys;
    this.counters = this.newCounters();
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
    return this.counters.bytes;
  }

  /** Counters that are not as good as new; above 2^16 slots an estimate from as many. */
  slotsInUse(nowMillis: number): number {
    return this.counters.inUse(nowMillis);
  }

  /**
   * Calls `listener` whenever a live counter gives way.
   *
   * @returns what stops it
   */
  onEviction(listener: (event: EvictionEvent) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
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
    return this.counters.decideKey(plan, key, cost, mode === 'take', nowMillis);
  }

  settle({ entry, takenAtMillis }: Receipt, delta: number, nowMillis: number): number {
    let dropped = 0;
    for (const counter of entry.counters) {
      if (delta < 0) this.counters.giveBack(counter, -delta, takenAtMillis, nowMillis);
      if (delta > 0) dropped = Math.max(dropped, this.counters.charge(counter, delta, nowMillis));
    }
    return dropped;
  }

  reset(counters: readonly Counter[]): void {
    for (const counter of counters) this.counters.reset(counter);
  }

  block(counters: readonly Counter[], untilMillis: number, nowMillis: number): void {
    for (const counter of counters) this.blocks.set(counter, untilMillis, nowMillis);
  }

  override close(): void {
    this.counters = this.newCounters();
    this.blocks.clear();
    this.listeners.clear();
  }

  private decideEntry({ counters, cost, mode }: StoreEntry, now: number): Decision {
    const blockedFor = this.blocks.size > 0 && cost > 0 ? this.blocks.left(counters, now) : 0;
    const take = mode === 'take' && blockedFor === 0;
    const decision = this.counters.decide(counters, cost, take, now);
    return blockedFor > 0 ? blockedDecision(decision, blockedFor) : decision;
  }

  private newCounters(): Counters {
    return new Counters(this.maxKeys, (atLimit) => this.countEviction(atLimit));
  }

  private countEviction(atLimit: boolean): void {
    this.evictedCount++;
    if (atLimit) this.evictedAtLimitCount++;
    if (this.listeners.size === 0) return;
    const { evicted, evictedAtLimit } = this;
    for (const listener of this.listeners) listener({ atLimit, evicted, evictedAtLimit });
  }
}
