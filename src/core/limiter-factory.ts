import { type Clock, SystemClock } from './clock.js';
import { type CounterPlan, planCounters } from './counter-plan.js';
import type { Decision } from './decision.js';
import { Faults } from './fault.js';
import { KeyedLimiter, Limiter } from './limiter.js';
import { type PolicySource, readPolicy } from './policy.js';
import { checkAvailable, DEFAULT_SURROUNDINGS } from './rule-availability.js';
import type { CheckedRule } from './rule-types.js';
import { SteadyClock } from './steady-clock.js';
import type { MaybePromise, RateLimitStore, SynchronousStore } from './store.js';

/** Makes limiters on one clock: useful by themselves, without Nest. */
export class LimiterFactory {
  private readonly clock: Clock;
  private keyedLimiters = 0;

  /**
   * @param clock the system's by default
   * @param store where `createKeyed` counts when it is not told otherwise
   */
  constructor(
    clock: Clock = new SystemClock(),
    private readonly store?: SynchronousStore,
  ) {
    this.clock = SteadyClock.over(clock);
  }

  /**
   * A limiter for one key.
   *
   * @param rule one or several rules that decide together
   * @throws RateLimitConfigError for a faulty rule
   */
  create<const T extends PolicySource>(rule: T & CheckedRule<T>): Limiter {
    return new Limiter(plansOf(rule, 'limiter'), this.clock);
  }

  /**
   * A limiter with a counter for each key, in this process: its counters are its own.
   *
   * With a `store` that others share, limiters of the same rule share their counters; a `name` in
   * the rule tells them apart.
   *
   * @throws RateLimitConfigError for a faulty rule
   */
  createKeyed<const T extends PolicySource>(
    rule: T & CheckedRule<T>,
    options?: { readonly store?: SynchronousStore },
  ): KeyedLimiter<Decision>;
  createKeyed<const T extends PolicySource>(
    rule: T & CheckedRule<T>,
    options: { readonly store: RateLimitStore },
  ): KeyedLimiter<MaybePromise<Decision>>;
  createKeyed(
    rule: PolicySource,
    options: { readonly store?: RateLimitStore } = {},
  ): KeyedLimiter<MaybePromise<Decision>> {
    const store = options.store ?? this.store;
    if (!store) {
      throw new TypeError(
        'createKeyed needs a store: new LimiterFactory(clock, new MemoryStore())',
      );
    }
    const place = options.store ? 'keyed' : `keyed:${++this.keyedLimiters}`;
    return new KeyedLimiter(plansOf(rule, place), store, this.clock);
  }
}

function plansOf(rule: PolicySource, place: string): readonly CounterPlan[] {
  const faults = new Faults();
  const policy = readPolicy(rule, 'a limiter', faults);
  if (policy) checkAvailable(policy, 'a limiter', DEFAULT_SURROUNDINGS, faults);
  faults.throwIfAny();
  return planCounters({ policy: policy!, place, label: 'limiter' });
}
