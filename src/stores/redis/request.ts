import type { Decision } from '../../core/decision.js';
import type { Ticket } from './breaker.js';
import type { RemoteCounter } from './remote-counter.js';

/** What the scripts can do, by the numbers that they know it by. */
export const TAKE = 0;
export const PEEK = 1;
export const GIVE = 2;
export const CHARGE = 3;
export const RESET = 4;
export const BLOCK = 5;

export type Action =
  | typeof TAKE
  | typeof PEEK
  | typeof GIVE
  | typeof CHARGE
  | typeof RESET
  | typeof BLOCK;

/** What a script answered to a request. */
export interface Answer {
  /** Of a take or a peek, as if no counter were blocked. */
  readonly decision: Decision | undefined;
  /** For how long a counter of it is blocked still; 0 where none is. */
  readonly blockedMillis: number;
  /** Of a charge: how much was dropped. */
  readonly number: number;
  /** The store's time. */
  readonly takenAtMillis: number;
  /** The same of each key, where they were asked one after another. */
  readonly takenAtOf?: ReadonlyMap<string, number>;
}

/** One thing to do on counters that are all in one place. */
export interface Request {
  readonly action: Action;
  readonly counters: readonly RemoteCounter[];
  /** The cost, what is given back or charged, or for how long to block. */
  readonly count: number;
  /** Of what is given back: when it was taken. */
  readonly time: number;
  /** The caller's reading of the Clock. */
  readonly clockMillis: number;
  /** The same where the store goes by it; undefined where the server's time decides. */
  readonly nowMillis: number | undefined;
  /** By this process's monotonic clock. */
  readonly arrivedAt: number;
  /** What the breaker let it through with, once it has. A probe goes out alone. */
  ticket: Ticket | undefined;
  done(answer: Answer): void;
  failed(error: Error): void;
}
