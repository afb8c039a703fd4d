/*
 * One rule, many more keys than there is room for. The model forgets nothing; where the product
 * has forgotten a key, and has counted so, the model of that key begins anew as well. What may not
 * be: that a key which had nothing left gets something before its time, uncounted.
 */
import { difference } from './model.mjs';

const KEYS = 400;
/** So few keys make half of the requests and reach their limits; the others hardly ever do. */
const BUSY = 20;

export class CrowdedRun {
  static maxKeys = 128;

  /** Above 1, so that one request alone brings no key to its limit. */
  static rule(random, algorithm) {
    const limit = random.whole(2, 8);
    const windowMillis = random.whole(100, 100_000);
    return { text: `${algorithm},${limit},${windowMillis}ms`, limit, windowMillis };
  }

  constructor({ random, rule, clock, store, limiter, Model }) {
    Object.assign(this, { random, rule, clock, store, limiter, Model });
    this.keys = Array.from({ length: KEYS }, () => this.fresh());
  }

  fresh() {
    return { model: new this.Model(this.rule), atLimit: false, evicted: 0, evictedAtLimit: 0 };
  }

  step() {
    const { random, rule, store } = this;
    if (random.chance(0.2)) this.clock.advance(random.whole(0, Math.ceil(rule.windowMillis / 50)));
    const index = random.chance(0.5) ? random.whole(0, BUSY - 1) : random.whole(0, KEYS - 1);
    const known = this.keys[index];
    // What was evicted by this very request is no excuse for it.
    const { evicted, evictedAtLimit } = store;
    const now = this.clock.nowMillis();
    const decision = this.limiter.tryAcquire(`key-${index}`);
    let model = copyOf(known.model);
    let differs = difference(model, decision, 1, now);
    if (differs) {
      const counted = known.atLimit
        ? evictedAtLimit > known.evictedAtLimit
        : evicted > known.evicted;
      if (!counted) return this.told(differs, index, known, decision, now);
      model = new this.Model(rule);
      differs = difference(model, decision, 1, now);
      if (differs) return this.told(`${differs} after an eviction`, index, known, decision, now);
    }
    this.keys[index] = {
      model,
      atLimit: decision.remaining === 0,
      evicted: store.evicted,
      evictedAtLimit: store.evictedAtLimit,
    };
    return undefined;
  }

  told(differs, index, { atLimit }, decision, now) {
    const had = atLimit ? 'a key at its limit' : 'a key below its limit';
    return `${differs} of key-${index}, ${had}, at ${now}: ${JSON.stringify(decision)}`;
  }
}

function copyOf(model) {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(model)), model);
  if (model.times) copy.times = [...model.times];
  return copy;
}
