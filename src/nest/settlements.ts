import { type Observable, Subject } from 'rxjs';
import type { Counter } from '../core/counter-plan.js';
import { assertCost } from '../core/decision.js';
import type { Asker } from '../core/identity.js';
import type { Clock, Outcome } from '../core/index.js';
import type { StoreFallback } from './store-fallback.js';

/** A cost turned out higher than estimated, and part of it could be charged to nobody. */
export interface DroppedEvent {
  /** The id of the user; undefined for one who is known by address alone. */
  readonly userId: string | undefined;
  readonly address: string | undefined;
  /** The template or name that was asked for. */
  readonly api: string;
  /** What was taken at first. */
  readonly cost: number;
  /** What it cost in the end. */
  readonly actual: number;
  /** How much of the difference was dropped, by the counter that could bear least. */
  readonly dropped: number;
}

/** Handed what was taken, by whoever will settle it. */
export type Keep = (taken: Taken) => void;

/** Corrects what was taken, when the real cost is known. */
export class Settlements {
  private readonly subject = new Subject<DroppedEvent>();
  readonly dropped: Observable<DroppedEvent> = this.subject.asObservable();

  /** @param clock never goes back */
  constructor(
    private readonly store: StoreFallback,
    private readonly clock: Clock,
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
    if (!(dropped > 0)) return;
    const { userId, address, api } = asker;
    this.subject.next({ userId, address, api, cost, actual, dropped });
  }

  close(): void {
    this.subject.complete();
  }
}

/** What one allowed request took. */
export class Taken {
  constructor(
    private readonly outcome: Outcome,
    private readonly asker: Asker,
    private readonly settlements: Settlements,
  ) {}

  get counters(): readonly Counter[] {
    return this.outcome.entry.counters;
  }

  /**
   * Gives back or charges the difference to what was taken; each counter at most once. Never
   * rejects.
   *
   * @param counters those that it concerns: rules of one request may count different outcomes
   * @throws RangeError for a cost that is no whole number, 0 or more
   */
  settle(actual: number, counters: readonly Counter[] = this.counters): Promise<void> {
    assertCost(actual);
    const { outcome, asker } = this;
    const entry = { ...outcome.entry, counters };
    return this.settlements.settle({ ...outcome, entry }, asker, actual);
  }
}
