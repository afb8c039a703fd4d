/* One rule, a few keys, room for all of them: every decision is exactly the model's. */
import { difference } from './model.mjs';

const KEYS = ['', 'a', 'b', '__proto__', 'ключ', '1'];

/** Moments up to twice the longest time to fill ahead of this one are below 2^53: year 144,000. */
const LAST_MOMENT = 2 ** 52;

export class RoomyRun {
  /** So many that each key's eight slots are its own, for the largest log as well. */
  static maxKeys = 8192;

  static rule(random, algorithm) {
    return random.rule(algorithm);
  }

  constructor({ random, rule, clock, limiter, Model }) {
    this.random = random;
    this.rule = rule;
    this.clock = clock;
    this.limiter = limiter;
    this.models = new Map(KEYS.map((key) => [key, new Model(rule)]));
    this.lastWait = 0;
  }

  /** @returns what differs, or undefined */
  step() {
    const { random, rule } = this;
    const step = random.step(rule.windowMillis, this.lastWait);
    if (this.clock.nowMillis() + step <= LAST_MOMENT) this.clock.advance(step);
    const key = random.pick(KEYS);
    const cost = random.cost(rule.burst ?? rule.limit);
    const decision = this.limiter.tryAcquire(key, cost);
    this.lastWait = decision.retryAfterMillis;
    const now = this.clock.nowMillis();
    const differs = difference(this.models.get(key), decision, cost, now);
    return differs && `${differs} of cost ${cost} at ${now}: ${JSON.stringify(decision)}`;
  }
}
