/*
 * What the algorithms mean, in big integers and as plainly as can be: nothing is shared with the
 * product, and nothing is rounded. Each model answers two things only, whether a cost fits at a
 * moment and what taking it changes; the rest of a decision follows from those:
 *
 *   remaining  n, where n fits now and n + 1 does not
 *   wait       r, where the cost fits in r ms and does not in r − 1 (nothing else happening, what
 *              fits goes on fitting, so there is only one such r)
 *
 * `at` is never before the last take.
 */

/** The level in units of 1/window token: a millisecond earns `limit` of them. */
class TokenBucket {
  constructor({ limit, windowMillis, burst }) {
    this.limit = BigInt(limit);
    this.window = BigInt(windowMillis);
    this.capacity = BigInt(burst ?? limit);
    this.full = this.capacity * this.window;
    this.level = this.full;
    this.since = 0n;
  }

  levelAt(at) {
    const level = this.level + (at - this.since) * this.limit;
    if (level > this.full) return this.full; // there is no Math.min of big integers
    return level;
  }

  fits(cost, at) {
    return cost * this.window <= this.levelAt(at);
  }

  take(cost, at) {
    this.level = this.levelAt(at) - cost * this.window;
    this.since = at;
  }
}

/** A count for the box that was counted in last. */
class FixedWindow {
  constructor({ limit, windowMillis }) {
    this.capacity = BigInt(limit);
    this.window = BigInt(windowMillis);
    this.box = -1n;
    this.count = 0n;
  }

  countIn(box) {
    return box === this.box ? this.count : 0n;
  }

  fits(cost, at) {
    return this.countIn(at / this.window) + cost <= this.capacity;
  }

  take(cost, at) {
    const box = at / this.window;
    this.count = this.countIn(box) + cost;
    this.box = box;
  }
}

/** The same, and the count of the box before it. */
class SlidingWindowCounter {
  constructor({ limit, windowMillis }) {
    this.capacity = BigInt(limit);
    this.window = BigInt(windowMillis);
    this.box = -1n;
    this.current = 0n;
    this.previous = 0n;
  }

  countIn(box) {
    if (box === this.box) return this.current;
    return box === this.box - 1n ? this.previous : 0n;
  }

  fits(cost, at) {
    const box = at / this.window;
    const left = (box + 1n) * this.window - at;
    const used = this.countIn(box - 1n) * left + this.countIn(box) * this.window;
    return used + cost * this.window <= this.capacity * this.window;
  }

  take(cost, at) {
    const box = at / this.window;
    const previous = this.countIn(box - 1n);
    this.current = this.countIn(box) + cost;
    this.previous = previous;
    this.box = box;
  }
}

/** The moment of every accepted request, oldest first, as often as it cost. */
class SlidingWindow {
  constructor({ limit, windowMillis }) {
    this.capacity = BigInt(limit);
    this.window = BigInt(windowMillis);
    this.times = [];
    /** Those before this index left the window by the last take. */
    this.first = 0;
  }

  /** The index of the oldest that counts at a moment. */
  oldestAt(at) {
    let low = this.first;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] + this.window > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  fits(cost, at) {
    return BigInt(this.times.length - this.oldestAt(at)) + cost <= this.capacity;
  }

  take(cost, at) {
    this.first = this.oldestAt(at);
    if (this.first > 10_000) {
      this.times = this.times.slice(this.first);
      this.first = 0;
    }
    for (let i = 0n; i < cost; i++) this.times.push(at);
  }
}

export const MODELS = {
  'token-bucket': TokenBucket,
  'fixed-window': FixedWindow,
  'sliding-window': SlidingWindow,
  'sliding-window-counter': SlidingWindowCounter,
};

/** What of a decision is not what the model says; undefined when all is. Takes if it fits. */
export function difference(model, decision, cost, now) {
  const at = BigInt(now);
  const units = BigInt(cost);
  const allowed = model.fits(units, at);
  if (decision.allowed !== allowed) return 'allowed';
  if (allowed) {
    if (decision.retryAfterMillis !== 0) return 'retryAfterMillis';
    if (cost > 0) model.take(units, at);
  } else if (!waitHolds(model, decision.retryAfterMillis, units, at)) return 'retryAfterMillis';
  return remainingHolds(model, decision.remaining, at) ? undefined : 'remaining';
}

function waitHolds(model, wait, cost, at) {
  if (cost > model.capacity) return wait === Number.POSITIVE_INFINITY;
  if (!(Number.isSafeInteger(wait) && wait > 0)) return false;
  const moment = at + BigInt(wait);
  return model.fits(cost, moment) && !model.fits(cost, moment - 1n);
}

function remainingHolds(model, remaining, at) {
  if (!(Number.isSafeInteger(remaining) && remaining >= 0)) return false;
  const units = BigInt(remaining);
  if (units > model.capacity) return false;
  return model.fits(units, at) && (units === model.capacity || !model.fits(units + 1n, at));
}
