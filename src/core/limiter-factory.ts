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
import { WaitingRoom } from './waiting-room.js';

export interface LimiterFactoryOptions {
  /** How many wait at most in `acquire`, for all limiters together. Default 10,000. */
  readonly maxWaiters?: number;
}

/** Makes limiters on one clock: useful by themselves, without Nest. */
export class LimiterFactory {
  private readonly clock: Clock;
  private readonly room: WaitingRoom;
  private readonly stores = new WeakMap<RateLimitStore, string>();
  private keyedLimiters = 0;
  private storesSeen = 0;

  /**
   * @param clock the system's by default
   * @param store where `createKeyed` counts when it is not told otherwise
   * @throws RangeError when maxWaiters is no whole number, 0 or more
   */
  constructor(
    clock: Clock = new SystemClock(),
    private readonly store?: SynchronousStore,
    { maxWaiters }: LimiterFactoryOptions = {},
  ) {
    this.clock = SteadyClock.over(clock);
    this.room = new WaitingRoom(this.clock, maxWaiters);
  }

  /** Refuses all who wait in `acquire`, and lets nobody wait from now on. */
  close(): Promise<void> {
    return this.room.close();
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
    return new KeyedLimiter(plansOf(rule, place), store, this.clock, this.room, this.nameOf(store));
  }

  /** Limiters of one rule and one store share their counters, and with them a line. */
  private nameOf(store: RateLimitStore): string {
    const name = this.stores.get(store) ?? String(++this.storesSeen);
    this.stores.set(store, name);
    return name;
  }
}

function plansOf(rule: PolicySource, place: string): readonly CounterPlan[] {
  const faults = new Faults();
  const policy = readPolicy(rule, 'a limiter', faults);
  if (policy) checkAvailable(policy, 'a limiter', DEFAULT_SURROUNDINGS, faults);
  faults.throwIfAny();
  return planCounters({ policy: policy!, place, label: 'limiter' });
}
