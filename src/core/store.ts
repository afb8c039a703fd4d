import type { Counter, CounterPlan } from './counter-plan.js';
import type { Decision } from './decision.js';
import type { StoreEvent } from './store-event.js';

export type MaybePromise<T> = T | Promise<T>;

/** A request as a store sees it: it spends on all of its counters or on none. */
export interface StoreEntry {
  /** At least one, each once. */
  readonly counters: readonly Counter[];
  /** A whole number, 0 or more. */
  readonly cost: number;
  /** `peek` decides the same and takes nothing. */
  readonly mode: 'take' | 'peek';
}

/**
 * The receipt of a take, with which `settle` gives back or charges more. It may be handed in for
 * some of its counters alone: each of them at most once.
 */
export interface Receipt {
  readonly entry: StoreEntry;
  /** The store's own time of the take. */
  readonly takenAtMillis: number;
}

/** What a store answers to an entry. */
export interface Outcome extends Receipt {
  readonly decision: Decision;
}

/**
 * Where counters live. The port that every store implements, and the injection token.
 *
 * Each operation is atomic. `nowMillis` is the caller's reading, never smaller than the last; a
 * store with a time of its own may use that instead.
 */
export abstract class RateLimitStore {
  /** What the start-up line calls it. */
  abstract readonly name: string;

  /** Decides entries in their order, at one moment. */
  abstract decide(
    entries: readonly StoreEntry[],
    nowMillis: number,
  ): MaybePromise<readonly Outcome[]>;

  /**
   * Corrects what an allowed take cost: a negative `delta` gives back, as far as it still counts;
   * a positive one charges more although it may not fit. At most once a counter of a receipt.
   *
   * @returns how much of the charge was dropped, by the counter that could bear least
   */
  abstract settle(receipt: Receipt, delta: number, nowMillis: number): MaybePromise<number>;

  /** Makes counters as good as new; a block stands, since `block` ends it. */
  abstract reset(counters: readonly Counter[]): MaybePromise<void>;

  /** Refuses all that meets these counters before `untilMillis`; 0 unblocks. */
  abstract block(
    counters: readonly Counter[],
    untilMillis: number,
    nowMillis: number,
  ): MaybePromise<void>;

  /**
   * Calls `listener` for what happens to the store. A store in this process has nothing to tell.
   *
   * @returns what stops it
   */
  onEvent(_listener: (event: StoreEvent) => void): () => void {
    return () => undefined;
  }

  /** Called once when the application shuts down. */
  close(): MaybePromise<void> {}
}

/** A store that answers at once. */
export abstract class SynchronousStore extends RateLimitStore {
  abstract override decide(entries: readonly StoreEntry[], nowMillis: number): readonly Outcome[];

  /** The short way for one counter of one value. The same as `decide`. */
  decideKey(
    plan: CounterPlan,
    key: string,
    cost: number,
    mode: StoreEntry['mode'],
    nowMillis: number,
  ): Decision {
    const entry = { counters: [{ plan, values: [key] }], cost, mode };
    return this.decide([entry], nowMillis)[0]!.decision;
  }

  abstract override settle(receipt: Receipt, delta: number, nowMillis: number): number;
  abstract override reset(counters: readonly Counter[]): void;
  abstract override block(
    counters: readonly Counter[],
    untilMillis: number,
    nowMillis: number,
  ): void;
}
