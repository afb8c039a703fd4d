import type { Counter, CounterPlan } from '../core/counter-plan.js';
import { rulesOf } from '../core/decision.js';
import { encodeParts } from '../core/identity.js';
import type { Clock, MaybePromise, Outcome, StoreEntry } from '../core/index.js';
import { andThen, isPromise } from '../core/maybe-promise.js';
import { countsFade, refused, type Visit } from '../core/waiter.js';
import { WaitingRoom } from '../core/waiting-room.js';
import type { StoreFallback } from './store-fallback.js';

/** Made only for those who wait: aborted when the caller is gone. */
export interface Leaving {
  readonly signal: AbortSignal;
  /** Ends the watching. */
  done(): void;
}

/** Whether one of these rules would rather have a caller wait than refuse it. */
export function waits({ rule }: CounterPlan): boolean {
  return rule.waitMillis > 0;
}

/** Those who wait for counters of this module: in `acquire`, and in the guard where a rule says so. */
export class Waiting {
  private readonly room: WaitingRoom;

  /** @param clock never goes back */
  constructor(
    private readonly store: StoreFallback,
    private readonly clock: Clock,
    maxWaiters: number,
  ) {
    this.room = new WaitingRoom(clock, maxWaiters);
  }

  /** Takes as soon as it fits and all who came before are served. Rejects as the room does. */
  async acquire(counters: readonly Counter[], visit: Visit): Promise<Outcome> {
    const entry: StoreEntry = { counters, cost: visit.cost, mode: 'take' };
    let last: Outcome | undefined;
    const take = (cost: number) =>
      andThen(this.ask({ ...entry, cost }), (outcome) => {
        last = outcome;
        return outcome.decision;
      });
    const peek = (cost: number) => {
      const answer = this.ask({ counters, cost, mode: 'peek' });
      return andThen(answer, ({ decision }) => decision);
    };
    const fades = countsFade(counters.map(({ plan }) => plan));
    const decision = await this.room.enter(namesOf(counters), { take, peek, fades }, visit);
    // Who was let in was so by the last answer, which is the receipt.
    if (decision.allowed && last) return last;
    return { entry, decision, takenAtMillis: this.clock.nowMillis() };
  }

  /**
   * Decides, and waits for as long as the rules that refuse have it. Of several that refuse the
   * smallest `wait` counts: one without it refuses at once.
   *
   * Who comes while others wait for the same counters stands behind them; else it is decided
   * without the room, so that what is let in never waits for another's answer.
   */
  decide(entry: StoreEntry, leaving: () => Leaving): MaybePromise<Outcome> {
    // A rule that is skipped has nobody wait.
    if (!entry.counters.some(({ plan }) => waits(plan))) return this.ask(entry);
    const now = this.clock.nowMillis();
    const visit = { cost: entry.cost, deadline: deadlineOf(entry.counters, now) };
    if (this.room.isWaitedFor(namesOf(entry.counters))) return this.wait(entry, visit, leaving);
    return andThen(this.ask(entry), (outcome) => {
      const { decision } = outcome;
      const isLate = now + decision.retryAfterMillis > visit.deadline(decision);
      if (decision.allowed || decision.reason !== 'quota' || isLate) return outcome;
      return this.wait(entry, { ...visit, told: decision }, leaving);
    });
  }

  /** Asks anew for all who wait for one of these counters: something was given back. */
  wake(counters: readonly Counter[]): void {
    if (this.room.waiting > 0) this.room.wake(namesOf(counters));
  }

  /** Refuses all who wait, and lets nobody wait from now on. */
  close(): Promise<void> {
    return this.room.close();
  }

  private ask(entry: StoreEntry): MaybePromise<Outcome> {
    return this.store.decide(entry, this.clock.nowMillis());
  }

  private async wait(entry: StoreEntry, visit: Visit, leaving: () => Leaving): Promise<Outcome> {
    const { signal, done } = leaving();
    try {
      return await this.acquire(entry.counters, { ...visit, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      // Nobody is there to be told; for the events it is a refusal like any other.
      const answer = this.ask({ ...entry, mode: 'peek' });
      const outcome = isPromise(answer) ? await answer : answer;
      return { ...outcome, decision: refused(outcome.decision, 1) };
    } finally {
      done();
    }
  }
}

function namesOf(counters: readonly Counter[]): readonly string[] {
  return counters.map(({ plan, values }) => encodeParts([plan.id, ...values]));
}

/** As long as the smallest `wait` of the rules that refuse; a block is not waited for. */
function deadlineOf(counters: readonly Counter[], now: number): Visit['deadline'] {
  return (refusal) => {
    if (refusal?.reason === 'blocked') return now;
    const rules = refusal && rulesOf(refusal);
    const refusing = counters.filter((_, i) => (rules ? rules[i]?.allowed === false : true));
    const millis = refusing.map(({ plan }) => plan.rule.waitMillis);
    return now + Math.min(...(rules ? millis : millis.filter((wait) => wait > 0)));
  };
}
