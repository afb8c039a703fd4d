/* Rules, costs and times that come near to where arithmetic goes wrong. */
import { Rule } from '../../dist/esm/core/index.js';
import { fractions } from '../lib/keys.mjs';

const LONGEST_WINDOW = 365 * 86_400_000;
/** The default of the largest limit of an exact log. */
const LARGEST_LOG = 1000;

export class Random {
  constructor(seed) {
    this.fraction = fractions(seed);
  }

  /** A whole number, both ends included. */
  whole(low, high) {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  chance(probability) {
    return this.fraction() < probability;
  }

  pick(list) {
    return list[this.whole(0, list.length - 1)];
  }

  /** Of any magnitude alike, up to `high`; often a round one. */
  magnitude(high) {
    const number = Math.min(high, Math.floor(Math.exp(this.fraction() * Math.log(high + 1))));
    if (!this.chance(0.3) || number < 10) return Math.max(1, number);
    const digits = 10 ** Math.floor(Math.log10(number));
    return Math.floor(number / digits) * digits;
  }

  /** A rule that the product accepts: of very large numbers it refuses what it can't keep exactly. */
  rule(algorithm) {
    for (;;) {
      const large = this.chance(0.2);
      const largest = algorithm === 'sliding-window' ? LARGEST_LOG : large ? 2 ** 50 : 1000;
      const limit = this.magnitude(largest);
      const windowMillis = this.magnitude(large ? LONGEST_WINDOW : 100_000);
      const bursts = algorithm === 'token-bucket' && this.chance(0.5);
      const burst = bursts ? this.magnitude(large ? 2 ** 40 : 1000) : undefined;
      const end = burst === undefined ? '' : `,burst=${burst}`;
      const text = `${algorithm},${limit},${windowMillis}ms${end}`;
      if (isAccepted(text)) return { text, limit, windowMillis, burst };
    }
  }

  /** Mostly 1; sometimes nothing, any part of the capacity, or one more than it. */
  cost(capacity) {
    if (this.chance(0.6)) return 1;
    if (this.chance(0.1)) return this.pick([0, capacity, capacity + 1]);
    return this.whole(1, Math.min(capacity, this.chance(0.5) ? 5 : capacity));
  }

  /**
   * How far the clock goes on: mostly not or a little, else to the very moment of a refusal's
   * hint or to one beside it, or far.
   */
  step(windowMillis, lastWait) {
    if (this.chance(0.4)) return 0;
    if (lastWait > 0 && lastWait < Number.POSITIVE_INFINITY && this.chance(0.3)) {
      return Math.max(0, lastWait + this.whole(-1, 1));
    }
    if (this.chance(0.9)) return this.whole(0, Math.ceil(windowMillis / 20));
    return this.whole(0, 2 * windowMillis);
  }
}

function isAccepted(text) {
  try {
    Rule.parse(text);
    return true;
  } catch {
    return false;
  }
}
