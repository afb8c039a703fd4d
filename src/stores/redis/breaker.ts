/*
 * Breaker
 *
 *                5 failures in a row, or          1 s has passed:
 *                half of the last 20 failed       one probe goes
 *      ┌────────┐ ───────────────────► ┌──────┐ ──────────────► ┌───────────┐
 *      │ closed │                      │ open │                 │ half-open │ ─┐ 1 s without an
 *      └────────┘                      └──────┘ ◄────────────── └───────────┘ ◄┘ outcome: another
 *           ▲                                    the probe failed     │          probe
 *           └─────────────────────────────────────────────────────────┘
 *                                  the probe succeeded
 *
 * While Redis is away nobody waits for it but the one who asks whether it is back.
 *
 * Each command that is let through carries a ticket, and its outcome comes with the ticket. A
 * change of state begins a new period, and only outcomes of the present period count: a reply to a
 * command that was sent before the breaker opened neither closes it nor counts in the next history,
 * and a probe that was given up does not speak for the one that followed. A ticket counts once: a
 * command that timed out, and is answered or rejected later, was one failure.
 */
import type { BreakerState } from '../../core/store-event.js';

/** How long it stays open, and how long a probe may take, in milliseconds. */
const OPEN_MILLIS = 1000;

/** The last outcomes as bits, the latest lowest: 1 is a failure. */
const HISTORY = 20;
const WHOLE_HISTORY = 2 ** HISTORY - 1;
const FIVE_IN_A_ROW = 0b11111;

/** What a command is let through with; its outcome is told with it. */
export class Ticket {
  /** Whether an outcome was told. */
  told = false;

  constructor(
    /** `probe`: the one command that asks whether the store is back. */
    readonly kind: 'send' | 'probe',
    readonly period: number,
  ) {}
}

/**
 * Says whether to ask a store that may be out of reach. Pure: `now` is the caller's reading of the
 * Clock in milliseconds, never smaller than the last.
 */
export class Breaker {
  private current: BreakerState = 'closed';
  private period = 0;
  private history = 0;
  /** Outcomes of the history that are known, up to all of them. */
  private known = 0;
  /** When the next probe may go, unless closed. */
  private probeAt = 0;

  /** @param onChange told each change of the state, after it */
  constructor(private readonly onChange: (state: BreakerState) => void = () => undefined) {}

  get state(): BreakerState {
    return this.current;
  }

  /**
   * Whether a command may be sent now. Whoever gets a ticket sends, and tells the outcome: a probe
   * that was not sent holds everybody off for a second.
   *
   * @returns undefined: not now
   */
  admit(now: number): Ticket | undefined {
    if (this.current === 'closed') return new Ticket('send', this.period);
    if (now < this.probeAt) return undefined;
    this.probeAt = now + OPEN_MILLIS;
    this.enter('half-open');
    return new Ticket('probe', this.period);
  }

  /** The command with that ticket was answered. */
  succeeded(ticket: Ticket): void {
    if (!this.counts(ticket)) return;
    if (ticket.kind === 'send') this.note(0);
    else this.enter('closed');
  }

  /** The command with that ticket was not answered in time, or not at all. */
  failed(ticket: Ticket, now: number): void {
    if (!this.counts(ticket)) return;
    if (ticket.kind === 'send') this.note(1);
    if (ticket.kind === 'send' && !this.tooMany()) return;
    this.probeAt = now + OPEN_MILLIS;
    this.enter('open');
  }

  /** Milliseconds until the next probe may go; 0 when it may, and when closed. */
  leftMillis(now: number): number {
    return this.current === 'closed' ? 0 : Math.max(0, this.probeAt - now);
  }

  private counts(ticket: Ticket): boolean {
    if (ticket.told || ticket.period !== this.period) return false;
    ticket.told = true;
    return true;
  }

  private note(failure: 0 | 1): void {
    this.history = ((this.history << 1) | failure) & WHOLE_HISTORY;
    this.known = Math.min(HISTORY, this.known + 1);
  }

  private tooMany(): boolean {
    if ((this.history & FIVE_IN_A_ROW) === FIVE_IN_A_ROW) return true;
    return this.known === HISTORY && 2 * ones(this.history) >= HISTORY;
  }

  /** Another probe in the place of a lost one is a new period, but no change of the state. */
  private enter(state: BreakerState): void {
    const changed = state !== this.current;
    this.current = state;
    this.period++;
    this.history = 0;
    this.known = 0;
    if (changed) this.onChange(state);
  }
}

function ones(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}
