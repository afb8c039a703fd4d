import { blockedDecision } from '../../core/decision.js';
import type { Outcome, StoreEntry } from '../../core/store.js';
import type { Ticket } from './breaker.js';
import type { RemoteCounter } from './remote-counter.js';
import type { Action, Answer, Request } from './request.js';

export interface RemoteOutcome extends Outcome {
  /** The time of each key's take, where they were in several places. */
  readonly takenAtOf?: ReadonlyMap<string, number> | undefined;
}

export type Resolve = (outcomes: readonly Outcome[]) => void;

/** Decides an entry when Redis could not. */
export type Fallback = (entry: StoreEntry, nowMillis: number, error: Error) => Outcome;

/** An entry that is being decided, and who waits for it: one object, as there is one per request. */
export class Asked implements Request {
  readonly count: number;
  readonly time = 0;
  readonly clockMillis: number;
  readonly nowMillis: number | undefined;
  readonly arrivedAt: number;
  ticket: Ticket | undefined;

  constructor(
    private readonly entry: StoreEntry,
    readonly counters: readonly RemoteCounter[],
    readonly action: Action,
    times: Pick<Request, 'clockMillis' | 'nowMillis' | 'arrivedAt'>,
    private readonly resolve: Resolve,
    private readonly fallback: Fallback,
  ) {
    this.count = entry.cost;
    this.clockMillis = times.clockMillis;
    this.nowMillis = times.nowMillis;
    this.arrivedAt = times.arrivedAt;
    this.ticket = undefined;
  }

  done({ decision, blockedMillis, takenAtMillis, takenAtOf }: Answer): void {
    const decided = blockedMillis > 0 ? blockedDecision(decision!, blockedMillis) : decision!;
    const outcome: RemoteOutcome = { entry: this.entry, decision: decided, takenAtMillis };
    this.resolve([takenAtOf ? { ...outcome, takenAtOf } : outcome]);
  }

  failed(error: Error): void {
    this.resolve([this.fallback(this.entry, this.clockMillis, error)]);
  }
}
