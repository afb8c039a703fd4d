import type { AlgorithmName } from '../rule-fields.js';

/** The numbers of one counter live in cells of a typed array, so that no question makes an object. */
export type Cells = Float64Array;

/** What an algorithm needs to know of a rule. All whole numbers; times in milliseconds. */
export interface RuleNumbers {
  readonly limit: number;
  readonly windowMillis: number;
  /** Capacity of a token bucket; other algorithms have none. */
  readonly burst?: number | undefined;
}

/**
 * The arithmetic of one rule on the numbers of one counter.
 *
 * The numbers of a counter are `width` cells from index `at` on. Cell 0 is the moment from which
 * the counter is as good as new: a store may forget it then, whatever the other cells hold, and
 * all zero means "never used".
 *
 * One question does it all, in one pass over the numbers and with no object made: does the cost
 * fit, and how does the counter stand after. Joined rules ask all without taking, then all with it,
 * so they spend all or none; peeking and shadowing are asking without taking.
 *
 * Costs are whole and at most `capacity`; `now` is whole epoch milliseconds and never smaller than
 * at the last call on the same cells.
 */
export interface Algorithm {
  /** The most that a fresh counter admits at once. */
  readonly capacity: number;
  /** How long an empty counter takes until it admits `capacity` again, rounded up. */
  readonly fillMillis: number;
  /** Cells that one counter needs. */
  readonly width: number;
  /** For how many counters of two or three numbers its memory counts. */
  readonly weight: number;

  /**
   * Whether `cost` fits: milliseconds until it does, 0 when it does now; then it is taken if
   * `take`. `view` tells how the counter stands after that.
   */
  decide(cells: Cells, at: number, now: number, cost: number, take: boolean, view: View): number;

  /** Gives back `count` of what was taken at `takenAt`, as far as it still counts. */
  giveBack(cells: Cells, at: number, now: number, count: number, takenAt: number): void;
  /**
   * Takes up to `count` although it may not fit: a cost that turned out higher than estimated.
   * Answers how much was charged; the rest is dropped.
   */
  charge(cells: Cells, at: number, now: number, count: number): number;
  /**
   * Writes a counter that was kept under a smaller limit, in fewer cells, into `cells`, which are
   * zero. Cells of a larger width than this rule's are used as they are.
   */
  resize(old: Cells, oldAt: number, cells: Cells, at: number): void;
}

/** How a counter stands; one object is filled again and again. */
export interface View {
  /** What could be taken now: whole, rounded down, 0 … capacity. */
  remaining: number;
  /** Milliseconds until the counter is as good as new, 0 when it is. */
  resetAfter: number;
  /** Milliseconds until `remaining` next grows, 0 when it is the capacity. */
  moreAfter: number;
}

/** Makes the arithmetic of a rule, and says which rules cannot be kept exactly. */
export interface AlgorithmKind {
  readonly name: AlgorithmName;
  /** Other spellings that rule text may use. */
  readonly aliases: readonly string[];
  /** Whether rules of this kind take `burst`. */
  readonly takesBurst: boolean;
  /** Whether the memory of one counter grows with the limit. */
  readonly growsWithLimit: boolean;
  /**
   * Whether what was taken comes to weigh less while it still counts: then several takes one after
   * another may fit sooner than all at once.
   */
  readonly fades: boolean;
  /** The largest integer the arithmetic meets: exact only below 2^53. */
  largestInteger(rule: RuleNumbers): number;
  /** A rule near to one that is not exact, and exact; said to the user. */
  nearestExact(rule: RuleNumbers): string;
  create(rule: RuleNumbers): Algorithm;
}
