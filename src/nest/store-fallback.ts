import { DegradedLimiter } from '../core/degraded-limiter.js';
import { type Clock, MemoryStore, type RateLimitStore } from '../core/index.js';
import { isPromise } from '../core/maybe-promise.js';
import type { MaybePromise, Outcome, StoreEntry } from '../core/store.js';
import type { Warnings } from './warnings.js';

/** When to ask again where the store does not say: as long as a breaker stays open. */
const RETRY_AFTER_MILLIS = 1000;

/**
 * A store that failed counts as recovered after this long without a failure, so that one that fails
 * now and then is told of as one failure, not for each request.
 */
const QUIET_MILLIS = 1000;

/** A receipt of what was counted here, and not in the store. */
interface CountedHere extends Outcome {
  readonly here: true;
}

/**
 * Asks the store. Where it throws, rejects or answers nothing, each rule does as its `onStoreError`
 * says: a request is decided, whatever becomes of the store.
 *
 * A store that knows of its failures decides without itself and tells events; this is for those
 * that do not. It asks again each time, since it is not known how the store fails. `local` rules
 * count in this process against the whole limit: how many processes share it is not known here.
 */
export class StoreFallback {
  private readonly local = new MemoryStore({ maxKeys: 100_000 });
  private readonly limiter = new DegradedLimiter(this.local, () => 1);
  private failing = false;
  private failedAt = 0;

  /** @param clock never goes back */
  constructor(
    private readonly store: RateLimitStore,
    private readonly clock: Clock,
    private readonly warnings: Warnings,
  ) {}

  decide(entry: StoreEntry, now: number): MaybePromise<Outcome> {
    try {
      const answer = this.store.decide([entry], now);
      return isPromise(answer) ? this.awaited(answer, entry) : this.answered(answer);
    } catch (error) {
      return this.failed(entry, error);
    }
  }

  /**
   * Settles a receipt where it was taken. Never rejects: what a failure leaves undone stays spent,
   * and a charge is dropped.
   */
  async settle(receipt: Outcome, delta: number, now: number): Promise<number> {
    if ((receipt as Partial<CountedHere>).here) return this.limiter.settle(receipt, delta, now);
    try {
      return await this.store.settle(receipt, delta, now);
    } catch (error) {
      this.noteFailure(error);
      return Math.max(0, delta);
    }
  }

  close(): void {
    this.local.close();
  }

  private async awaited(answer: Promise<readonly Outcome[]>, entry: StoreEntry): Promise<Outcome> {
    try {
      return this.answered(await answer);
    } catch (error) {
      return this.failed(entry, error);
    }
  }

  private answered(outcomes: readonly Outcome[]): Outcome {
    const outcome = outcomes[0];
    if (!outcome?.decision) throw new TypeError('it answered without a decision');
    if (this.failing && this.clock.nowMillis() >= this.failedAt + QUIET_MILLIS) {
      this.failing = false;
      this.warnings.storeRecovered(this.store.name);
    }
    return outcome;
  }

  private failed(entry: StoreEntry, error: unknown): CountedHere {
    // Not the moment of the question: others may have been decided since.
    const now = this.noteFailure(error);
    const decision = this.limiter.decide(entry, now, RETRY_AFTER_MILLIS);
    return { entry, decision, takenAtMillis: now, here: true };
  }

  private noteFailure(error: unknown): number {
    const now = this.clock.nowMillis();
    this.failedAt = now;
    if (!this.failing) {
      this.failing = true;
      this.warnings.storeFailed(this.store.name, error);
    }
    return now;
  }
}
