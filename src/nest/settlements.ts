import type { Counter } from '../core/counter-plan.js';
import { assertCost } from '../core/decision.js';
import type { Asker } from '../core/identity.js';
import type { Clock, Outcome } from '../core/index.js';
import { factsOf, type RateLimitEvents } from './events.js';
import type { StoreFallback } from './store-fallback.js';

/** Handed what was taken, by whoever will settle it. */
export type Keep = (taken: Taken) => void;

/** Corrects what was taken, when the real cost is known. */
export class Settlements {
  /**
   * @param clock never goes back
   * @param onGivenBack for those who wait for something to be free
   */
  constructor(
    private readonly store: StoreFallback,
    private readonly clock: Clock,
    private readonly events: RateLimitEvents,
    private readonly onGivenBack: (counters: readonly Counter[]) => void,
  ) {}

  taken(outcome: Outcome, asker: Asker): Taken {
    return new Taken(outcome, asker, this);
  }

  /**
   * Never rejects: what a failure leaves undone stays spent. At once, where the store answers so.
   */
  async settle(outcome: Outcome, asker: Asker, actual: number): Promise<void> {
    const { cost } = outcome.entry;
    if (actual === cost || outcome.entry.counters.length === 0) return;
    const dropped = await this.store.settle(outcome, actual - cost, this.clock.nowMillis());
    if (actual < cost) this.onGivenBack(outcome.entry.counters);
    if (dropped > 0)
      this.events.emit({ type: 'dropped', cost, actual, dropped, ...factsOf(asker) });
  }
}

/** What one allowed request took. */
export class Taken {
  private readonly settled = new Set<Counter>();

  constructor(
    private readonly outcome: Outcome,
    private readonly asker: Asker,
    private readonly settlements: Settlements,
  ) {}

  get counters(): readonly Counter[] {
    return this.outcome.entry.counters;
  }

  /**
   * Gives back or charges the difference to what was taken; each counter once, whoever asks again.
   * Never rejects.
   *
   * @param counters those that it concerns: rules of one request may count different outcomes
   * @throws RangeError for a cost that is no whole number, 0 or more
   */
  settle(actual: number, counters: readonly Counter[] = this.counters): Promise<void> {
    assertCost(actual);
    const { outcome, asker } = this;
    const open = counters.filter((counter) => !this.settled.has(counter));
    for (const counter of open) this.settled.add(counter);
    const entry = { ...outcome.entry, counters: open };
    return this.settlements.settle({ ...outcome, entry }, asker, actual);
  }
}
