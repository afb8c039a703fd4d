/*
 * Token bucket
 *
 *   capacity ─ burst tokens ──────┐   A bucket holds `burst` tokens, starts full and earns
 *   ██████░░░░                    │   `limit` per window, continuously. A request takes `cost`.
 *        └ missing = debt ────────┘
 *   now ├──── debt / rate ────┤ fullAt
 *
 * Kept is not the level but the moment at which the bucket is full again: time alone refills it,
 * so nothing has to be written when nothing is taken, and the moment stays true when the limit
 * changes. With g = gcd(limit, window), P = limit/g and Q = window/g, one token is Q/P ms of
 * waiting. Debt is counted in units of 1/Q token (one ms earns P of them, one token is Q), so it
 * is a whole number always: no drift, and no rounding that lets one more in.
 *
 * The hint: `cost` fits when debt + cost·Q ≤ burst·Q; each ms takes P off the debt, hence the
 * wait ⌈(debt + cost·Q − burst·Q) / P⌉, and one ms less is too early.
 *
 * The moment is whole milliseconds, rounded up, less a rest of r/P ms. The rest is stored as the
 * fraction r/P: times P and rounded it is r again (exact for P < 2^51), and read under another
 * limit it is still the same moment, at most one unit off.
 *
 * Exact until the year 144,000, when moments as far ahead as a rule may have reach 2^53 ms.
 *
 * Worst case in any window: burst + limit. Two numbers a key; every operation O(1).
 * Source: the leaky bucket as a meter / GCRA (ITU-T I.371), kept in integers.
 */
import type { Algorithm, AlgorithmKind, Cells, RuleNumbers, View } from './algorithm.js';
import { ceilDiv, EXACT_BOUND, floorDiv, gcd } from './integers.js';

const FULL_AT = 0;
const REST = 1;

class TokenBucket implements Algorithm {
  readonly capacity: number;
  readonly fillMillis: number;
  readonly width = 2;
  readonly weight = 1;
  private readonly unitsPerMilli: number; // P
  private readonly unitsPerToken: number; // Q
  private readonly full: number;

  constructor({ limit, windowMillis, burst = limit }: RuleNumbers) {
    const g = gcd(limit, windowMillis);
    this.unitsPerMilli = limit / g;
    this.unitsPerToken = windowMillis / g;
    this.capacity = burst;
    this.full = burst * this.unitsPerToken;
    this.fillMillis = ceilDiv(this.full, this.unitsPerMilli);
  }

  decide(cells: Cells, at: number, now: number, cost: number, take: boolean, view: View): number {
    const { full, unitsPerMilli, unitsPerToken } = this;
    let debt = this.debt(cells, at, now);
    let reset: number;
    const over = debt - full + cost * unitsPerToken; // in this order: never above 2 × full
    if (over <= 0 && take) {
      debt += cost * unitsPerToken;
      reset = this.write(cells, at, now, debt);
    } else reset = ceilDiv(debt, unitsPerMilli);
    const level = full - debt;
    const remaining = level > 0 ? floorDiv(level, unitsPerToken) : 0;
    view.remaining = remaining;
    view.resetAfter = reset;
    view.moreAfter =
      debt === 0 ? 0 : ceilDiv((remaining + 1) * unitsPerToken - level, unitsPerMilli);
    return over > 0 ? ceilDiv(over, unitsPerMilli) : 0;
  }

  /** Less what was earned since: that would have been earned without the take as well. */
  giveBack(cells: Cells, at: number, now: number, count: number, takenAt: number): void {
    const earned = Math.max(0, now - takenAt) * this.unitsPerMilli;
    const back = Math.max(0, count * this.unitsPerToken - earned);
    this.write(cells, at, now, Math.max(0, this.debt(cells, at, now) - back));
  }

  /** Below zero by one capacity at most. */
  charge(cells: Cells, at: number, now: number, count: number): number {
    const debt = this.debt(cells, at, now);
    const room = floorDiv(Math.max(0, 2 * this.full - debt), this.unitsPerToken);
    const charged = Math.min(count, room);
    this.write(cells, at, now, debt + charged * this.unitsPerToken);
    return charged;
  }

  resize(): void {}

  /**
   * What is missing to full, in units. A moment absurdly far ahead is cut to one filling time, for
   * good: else it would be cut again at every look, and the wait that was told never pass.
   */
  private debt(cells: Cells, at: number, now: number): number {
    const ahead = cells[at + FULL_AT]! - now;
    if (ahead <= 0) return 0;
    if (ahead > 2 * this.fillMillis) {
      this.write(cells, at, now, this.full);
      return this.full;
    }
    const rest = cells[at + REST]!;
    if (rest === 0) return ahead * this.unitsPerMilli;
    const { unitsPerMilli } = this;
    return (ahead - 1) * unitsPerMilli + (unitsPerMilli - Math.round(rest * unitsPerMilli));
  }

  /** Answers how long it takes until the bucket is full, rounded up. */
  private write(cells: Cells, at: number, now: number, debt: number): number {
    const { unitsPerMilli } = this;
    const whole = floorDiv(debt, unitsPerMilli);
    const part = debt - whole * unitsPerMilli;
    const reset = part > 0 ? whole + 1 : whole;
    cells[at + FULL_AT] = now + reset;
    cells[at + REST] = part > 0 ? (unitsPerMilli - part) / unitsPerMilli : 0;
    return reset;
  }
}

/**
 * Twice the capacity in units, since a bucket may be overdrawn by one capacity; and four times P,
 * so that a rest kept as a fraction of P comes back whole.
 */
function largestInteger({ limit, windowMillis, burst = limit }: RuleNumbers): number {
  const g = gcd(limit, windowMillis);
  return Math.max(2 * burst * (windowMillis / g), 4 * (limit / g));
}

/** A hint is not worth more tries. */
const MOST_DIVISORS = 1e6;

/**
 * Small when limit and window share a large divisor: for each divisor g of the window, the
 * nearest limits that are multiples of it are tried.
 */
function nearestExact({ limit, windowMillis, burst }: RuleNumbers): string {
  if (burst !== undefined && largestInteger({ limit, windowMillis, burst: 1 }) < EXACT_BOUND) {
    const perToken = 2 * (windowMillis / gcd(limit, windowMillis));
    return `burst=${Math.ceil(EXACT_BOUND / perToken) - 1}`;
  }
  let best = 0;
  const consider = (candidate: number) => {
    if (candidate < 1 || !Number.isSafeInteger(candidate)) return;
    if (largestInteger({ limit: candidate, windowMillis, burst }) >= EXACT_BOUND) return;
    if (best === 0 || Math.abs(candidate - limit) < Math.abs(best - limit)) best = candidate;
  };
  for (let d = 1; d * d <= windowMillis && d <= MOST_DIVISORS; d++) {
    if (windowMillis % d !== 0) continue;
    for (const g of [d, windowMillis / d]) {
      const byCapacity = Math.ceil((EXACT_BOUND / 2) * (g / windowMillis)) - 1;
      const exactUpTo = Math.min(byCapacity, (EXACT_BOUND / 4) * g - 1);
      consider(Math.ceil(limit / g) * g);
      consider(floorDiv(Math.min(limit, exactUpTo), g) * g);
    }
  }
  return best > 0 ? `limit ${best}` : 'a shorter window';
}

export const tokenBucket: AlgorithmKind = {
  name: 'token-bucket',
  aliases: [],
  takesBurst: true,
  growsWithLimit: false,
  fades: false,
  largestInteger,
  nearestExact,
  create: (rule) => new TokenBucket(rule),
};
