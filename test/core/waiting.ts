import type { Counter } from '../../src/core/counter-plan.js';
import type { Decision } from '../../src/core/decision.js';
import { KeyedLimiter } from '../../src/core/limiter.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { RateLimitStore, type Receipt, type StoreEntry } from '../../src/core/store.js';
import { MemoryStore } from '../../src/stores/memory/memory.store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

/** A store that answers later. */
export class LaterStore extends RateLimitStore {
  readonly name = 'later';
  /** What is asked of it, as `take 1` or `peek 2`. */
  readonly asked: string[] = [];
  /** Called before each decision: what it throws, the store rejects with. */
  before: (entry: StoreEntry) => void | Promise<void> = () => undefined;

  constructor(readonly inner: MemoryStore) {
    super();
  }

  async decide(entries: readonly StoreEntry[], nowMillis: number) {
    for (const entry of entries) {
      this.asked.push(`${entry.mode} ${entry.cost}`);
      await this.before(entry);
    }
    return this.inner.decide(entries, nowMillis);
  }

  async settle(receipt: Receipt, delta: number, nowMillis: number) {
    return this.inner.settle(receipt, delta, nowMillis);
  }

  async reset(counters: readonly Counter[]) {
    this.inner.reset(counters);
  }

  async block(counters: readonly Counter[], untilMillis: number, nowMillis: number) {
    this.inner.block(counters, untilMillis, nowMillis);
  }
}

/** Lets all run that is due. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A fake clock that knows who sleeps on it. */
export class WatchedClock extends FakeClock {
  asleep = 0;
  readonly slept: number[] = [];

  override async sleep(millis: number, signal?: AbortSignal): Promise<void> {
    this.asleep++;
    this.slept.push(millis);
    try {
      await super.sleep(millis, signal);
    } finally {
      this.asleep--;
    }
  }

  /** Moves on a millisecond at a time, as a clock does. */
  async pass(millis: number): Promise<void> {
    for (let i = 0; i < millis; i++) {
      this.advance(1);
      await turn();
    }
  }
}

export type StoreKind = 'at once' | 'later';
export const STORE_KINDS: readonly StoreKind[] = ['at once', 'later'];

export function open(rule: string, kind: StoreKind, maxWaiters?: number) {
  const clock = new WatchedClock(10_000);
  const inner = new MemoryStore({ maxKeys: 1000 });
  const later = new LaterStore(inner);
  const store = kind === 'later' ? later : inner;
  const options = maxWaiters === undefined ? {} : { maxWaiters };
  const factory = new LimiterFactory(clock, inner, options);
  const limiter: KeyedLimiter<never> = factory.createKeyed(rule, { store }) as never;
  const told: string[] = [];
  /** Notes when and how it ended. */
  const acquire = (name: string, waiting: Parameters<KeyedLimiter['acquire']>[1] = {}) => {
    const answer = limiter.acquire('alice', waiting);
    answer.then(
      (decision) => told.push(line(name, clock, decision)),
      (reason) => told.push(`${clock.nowMillis() - 10_000} ${name} ✗ ${reason?.message ?? reason}`),
    );
    return answer;
  };
  const spent = async () => {
    const { limit, remaining } = await limiter.peek('alice', 0);
    return limit - remaining;
  };
  return { clock, inner, later, factory, limiter: limiter as KeyedLimiter, told, acquire, spent };
}

/** `at name in`, or `at name out reason remaining retryAfter`. */
function line(name: string, clock: FakeClock, decision: Decision): string {
  const { allowed, reason, remaining, retryAfterMillis } = decision;
  const at = clock.nowMillis() - 10_000;
  return allowed ? `${at} ${name} in` : `${at} ${name} ${reason} ${remaining} ${retryAfterMillis}`;
}
