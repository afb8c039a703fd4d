import type { Counter } from '../../core/counter-plan.js';
import { encodeParts } from '../../core/identity.js';

/** Blocks are an operator's decisions, and few; each keeps its key's text. */
const MAX_BLOCKS = 100_000;

/** Counters that are refused until a moment. Never evicted: a full list refuses new ones. */
export class BlockList {
  private readonly until = new Map<string, number>();

  get size(): number {
    return this.until.size;
  }

  /** @throws RangeError when the list is full */
  set(counter: Counter, untilMillis: number, now: number): void {
    const key = keyOf(counter);
    if (untilMillis <= now) {
      this.until.delete(key);
      return;
    }
    if (this.until.size >= MAX_BLOCKS && !this.until.has(key)) this.dropExpired(now);
    if (this.until.size >= MAX_BLOCKS && !this.until.has(key)) {
      throw new RangeError(`There are ${MAX_BLOCKS} blocks already: no more can be kept`);
    }
    this.until.set(key, untilMillis);
  }

  /** For how long the longest block of these counters still lasts; 0 when none is blocked. */
  left(counters: readonly Counter[], now: number): number {
    let left = 0;
    for (const counter of counters) {
      const until = this.until.get(keyOf(counter));
      if (until !== undefined) left = Math.max(left, until - now);
    }
    return left;
  }

  clear(): void {
    this.until.clear();
  }

  private dropExpired(now: number): void {
    for (const [key, until] of this.until) if (until <= now) this.until.delete(key);
  }
}

function keyOf({ plan, values }: Counter): string {
  return encodeParts([plan.id, ...values]);
}
