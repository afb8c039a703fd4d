import { largest, smallest } from './search.js';

/**
 * What each algorithm means, in its plainest words and in big integers. Nothing here is quick, and
 * nothing is shared with the product. A counter is a value: `taken` and `givenBack` answer a new one.
 */
export interface Counter {
  readonly capacity: bigint;
  /** The time in which an empty one fills. */
  readonly fill: bigint;
  /** Is there room for `cost` at `at`, if nothing else is taken until then? */
  fits(cost: bigint, at: bigint): boolean;
  /** Is it at `at` as good as one that was never used? */
  isNew(at: bigint): boolean;
  taken(cost: bigint, at: bigint): Counter;
  givenBack(n: bigint, takenAt: bigint, now: bigint): Counter;
  /** How much of `n` it can bear although it may not fit, when a cost turns out to be higher. */
  bears(n: bigint, at: bigint): bigint;
}

const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);

/** The level is an exact fraction, `level / window`: so counted, each millisecond earns `limit`. */
export class TokenBucket implements Counter {
  constructor(
    readonly limit: bigint,
    readonly window: bigint,
    readonly capacity: bigint,
    readonly level: bigint = capacity * window,
    readonly asOf: bigint = 0n,
  ) {}

  get fill(): bigint {
    return smallest((r) => this.limit * r >= this.capacity * this.window);
  }

  private levelAt(at: bigint): bigint {
    if (at < this.asOf) throw new Error('the time of the model goes forward only');
    return min(this.capacity * this.window, this.level + this.limit * (at - this.asOf));
  }

  private withLevel(level: bigint, at: bigint): TokenBucket {
    return new TokenBucket(this.limit, this.window, this.capacity, level, at);
  }

  fits(cost: bigint, at: bigint): boolean {
    return this.levelAt(at) >= cost * this.window;
  }

  isNew(at: bigint): boolean {
    return this.levelAt(at) === this.capacity * this.window;
  }

  taken(cost: bigint, at: bigint): TokenBucket {
    return this.withLevel(this.levelAt(at) - cost * this.window, at);
  }

  givenBack(n: bigint, takenAt: bigint, now: bigint): TokenBucket {
    const earnedSince = this.limit * (now - takenAt);
    const back = max(0n, n * this.window - earnedSince);
    return this.withLevel(min(this.capacity * this.window, this.levelAt(now) + back), now);
  }

  /** Below zero by one capacity at most. */
  bears(n: bigint, at: bigint): bigint {
    const lowest = -this.capacity * this.window;
    return largest(n, (part) => this.levelAt(at) - part * this.window >= lowest);
  }
}

/** `units` accepted at `time`; what was given back stands as a negative entry of the same time. */
interface Entry {
  readonly time: bigint;
  readonly units: bigint;
}

/** The window algorithms remember every entry for ever and differ only in how they count them. */
abstract class Windowed implements Counter {
  constructor(
    readonly capacity: bigint,
    readonly window: bigint,
    readonly entries: readonly Entry[] = [],
  ) {}

  get fill(): bigint {
    return this.window;
  }

  abstract fits(cost: bigint, at: bigint): boolean;
  abstract isNew(at: bigint): boolean;
  protected abstract withEntries(entries: readonly Entry[]): Counter;

  protected sum(counts: (time: bigint) => boolean): bigint {
    return this.entries.reduce((sum, { time, units }) => sum + (counts(time) ? units : 0n), 0n);
  }

  protected boxOf(time: bigint): bigint {
    return time / this.window;
  }

  taken(cost: bigint, at: bigint): Counter {
    return this.withEntries([...this.entries, { time: at, units: cost }]);
  }

  givenBack(n: bigint, takenAt: bigint): Counter {
    const takenThen = this.sum((time) => time === takenAt);
    return this.withEntries([...this.entries, { time: takenAt, units: -min(n, takenThen) }]);
  }

  bears(n: bigint, at: bigint): bigint {
    return largest(n, (part) => part === 0n || this.fits(part, at));
  }
}

/** What was accepted in the box of the clock that holds `at`. */
export class FixedWindow extends Windowed {
  private used(at: bigint): bigint {
    return this.sum((time) => this.boxOf(time) === this.boxOf(at));
  }

  fits(cost: bigint, at: bigint): boolean {
    return this.used(at) + cost <= this.capacity;
  }

  isNew(at: bigint): boolean {
    return this.used(at) === 0n;
  }

  protected withEntries(entries: readonly Entry[]): Counter {
    return new FixedWindow(this.capacity, this.window, entries);
  }
}

/** What was accepted in the window that ends at `at`: an entry counts while `time + window > at`. */
export class SlidingWindow extends Windowed {
  private used(at: bigint): bigint {
    return this.sum((time) => time + this.window > at);
  }

  fits(cost: bigint, at: bigint): boolean {
    return this.used(at) + cost <= this.capacity;
  }

  isNew(at: bigint): boolean {
    return this.used(at) === 0n;
  }

  protected withEntries(entries: readonly Entry[]): Counter {
    return new SlidingWindow(this.capacity, this.window, entries);
  }
}

/** `previous × (window − elapsed) / window + current`, both sides times `window`: no fraction. */
export class SlidingWindowCounter extends Windowed {
  private counts(at: bigint): { previous: bigint; current: bigint } {
    const box = this.boxOf(at);
    return {
      previous: this.sum((time) => this.boxOf(time) === box - 1n),
      current: this.sum((time) => this.boxOf(time) === box),
    };
  }

  fits(cost: bigint, at: bigint): boolean {
    const { previous, current } = this.counts(at);
    const elapsed = at - this.boxOf(at) * this.window;
    const used = previous * (this.window - elapsed) + current * this.window;
    return used + cost * this.window <= this.capacity * this.window;
  }

  isNew(at: bigint): boolean {
    const { previous, current } = this.counts(at);
    return previous === 0n && current === 0n;
  }

  protected withEntries(entries: readonly Entry[]): Counter {
    return new SlidingWindowCounter(this.capacity, this.window, entries);
  }
}
