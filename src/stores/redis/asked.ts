import type { Outcome, StoreEntry } from '../../core/store.js';
import type { Ticket } from './breaker.js';
import type { RemoteCounter } from './remote-counter.js';
import type { Action, Answer, Request } from './request.js';

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

  done({ decision, takenAtMillis }: Answer): void {
    this.resolve([{ entry: this.entry, decision: decision!, takenAtMillis }]);
  }

  failed(error: Error): void {
    this.resolve([this.fallback(this.entry, this.clockMillis, error)]);
  }
}
