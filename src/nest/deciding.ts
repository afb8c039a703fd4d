import type { Counter } from '../core/counter-plan.js';
import { assertCost, UNLIMITED } from '../core/decision.js';
import type { Faults } from '../core/fault.js';
import type { Asker } from '../core/identity.js';
import type { Clock, Decision, MaybePromise, Outcome, RateLimitStore } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import { SteadyClock } from '../core/steady-clock.js';
import type { StoreEntry } from '../core/store.js';
import type { CurrentRules } from './current-rules.js';
import { factsOf, type RateLimitEvents } from './events.js';
import { type Keep, Settlements } from './settlements.js';
import { StoreFallback } from './store-fallback.js';
import { nearLimit, Utilisation } from './utilisation.js';
import { type Leaving, Waiting } from './waiting.js';
import type { Warnings } from './warnings.js';

/** How one is decided for beside the plain way. */
export interface Ways {
  /** Asks instead of the store: whoever waits. */
  readonly wait?: ((counters: readonly Counter[]) => MaybePromise<Outcome>) | undefined;
  /** Handed what was taken, where it is to be settled; once for each part that is decided apart. */
  readonly keep?: Keep | undefined;
}

/** How a request is decided for: where it may wait, its leaving is looked for. */
export interface RequestWays extends Pick<Ways, 'keep'> {
  readonly leaving?: (() => Leaving) | undefined;
}

/** What deciding works with. */
export interface DecidingParts {
  readonly store: RateLimitStore;
  readonly clock: Clock;
  readonly rules: CurrentRules;
  readonly events: RateLimitEvents;
  readonly warnings: Warnings;
  readonly maxWaiters: number;
  readonly warnAt: number | undefined;
  /** Faults of options and book: with any, nothing is decided. */
  readonly faults: Faults;
}

/**
 * Asks the store, and tells those who listen: what all decisions of a module go through.
 *
 * A rule in shadow mode is asked apart from the others, and after them, for what they let in: so it
 * counts what it would count in force, and neither its answer nor its store's delay touches a
 * request. Each such rule is asked alone, since one that is tried must not disturb another.
 */
export class Deciding {
  readonly waiting: Waiting;
  readonly settlements: Settlements;
  readonly utilisation = new Utilisation();
  /** Never goes back. */
  readonly clock: Clock;
  private readonly store: StoreFallback;

  constructor(private readonly parts: DecidingParts) {
    this.clock = SteadyClock.over(parts.clock);
    this.store = new StoreFallback(parts.store, this.clock, parts.warnings);
    this.waiting = new Waiting(this.store, this.clock, parts.maxWaiters);
    this.settlements = new Settlements(this.store, this.clock, parts.events, (counters) =>
      this.waiting.wake(counters),
    );
  }

  /** Takes where it fits. */
  take(
    counters: readonly Counter[],
    asker: Asker,
    cost = 1,
    ways: Ways = {},
  ): MaybePromise<Decision> {
    this.check(cost);
    const { mode } = this.parts.rules.now;
    if (mode === 'off') return UNLIMITED;
    if (mode === 'shadow') {
      for (const part of partsOf(counters)) this.tryOut(part, asker, cost, ways.keep);
      return UNLIMITED;
    }
    if (!counters.some(inShadow)) return this.enforce(counters, asker, cost, ways);
    const enforced = counters.filter((counter) => !inShadow(counter));
    return andThen(this.enforce(enforced, asker, cost, ways), (decision) => {
      if (!decision.allowed) return decision;
      for (const counter of counters) {
        if (inShadow(counter)) this.tryOut([counter], asker, cost, ways.keep);
      }
      return decision;
    });
  }

  /** The same of a request: where rules have it wait, as long as its caller is there. */
  request(
    counters: readonly Counter[],
    asker: Asker,
    cost: number,
    { leaving, keep }: RequestWays,
  ): MaybePromise<Decision> {
    const wait =
      leaving && ((some: readonly Counter[]) => this.waiting.decide(entryOf(some, cost), leaving));
    return this.take(counters, asker, cost, { wait, keep });
  }

  /**
   * Decides the same, and takes nothing.
   *
   * @param all also what is not in force, as it or the module is in shadow mode or off
   */
  peek(counters: readonly Counter[], cost = 1, all = false): MaybePromise<Decision> {
    this.check(cost);
    const enforces = this.parts.rules.now.mode === 'enforce';
    const inForce = (counter: Counter) => enforces && !inShadow(counter);
    const asked = all ? counters : counters.filter(inForce);
    if (asked.length === 0) return UNLIMITED;
    const entry = { counters: asked, cost, mode: 'peek' as const };
    const answer = this.store.decide(entry, this.clock.nowMillis());
    return andThen(answer, ({ decision }) => decision);
  }

  close(): void {
    this.store.close();
  }

  private check(cost: number): void {
    assertCost(cost);
    // Where nobody started the application, its faults were not told yet.
    this.parts.faults.throwIfAny();
  }

  private enforce(
    counters: readonly Counter[],
    asker: Asker,
    cost: number,
    { wait, keep }: Ways,
  ): MaybePromise<Decision> {
    if (counters.length === 0) return UNLIMITED;
    const answer = wait ? wait(counters) : this.ask(counters, cost);
    return andThen(answer, (outcome) => {
      const { decision } = outcome;
      if (keep && decision.allowed) keep(this.settlements.taken(outcome, asker));
      this.note(counters, asker, cost, decision, false);
      return decision;
    });
  }

  /** Never rejects, as the store's failures are decided too; and of those nothing is learnt. */
  private tryOut(
    counters: readonly Counter[],
    asker: Asker,
    cost: number,
    keep: Keep | undefined,
  ): void {
    void andThen(this.ask(counters, cost), (outcome) => {
      const { decision } = outcome;
      if (decision.degraded) return;
      if (keep && decision.allowed) keep(this.settlements.taken(outcome, asker));
      this.note(counters, asker, cost, decision, true);
      const { events } = this.parts;
      if (decision.allowed || !events.observed) return;
      events.emit({ type: 'would-refuse', decision, cost, ...factsOf(asker) });
    });
  }

  private ask(counters: readonly Counter[], cost: number): MaybePromise<Outcome> {
    return this.store.decide(entryOf(counters, cost), this.clock.nowMillis());
  }

  private note(
    counters: readonly Counter[],
    asker: Asker,
    cost: number,
    decision: Decision,
    shadow: boolean,
  ): void {
    const { events, warnAt } = this.parts;
    this.utilisation.note(counters, decision);
    if (events.decisionsObserved) events.decision({ decision, cost, shadow, ...factsOf(asker) });
    if (warnAt === undefined || !events.observed) return;
    for (const near of nearLimit(counters, decision, cost, warnAt)) {
      events.emit({ type: 'near-limit', ...near, ...factsOf(asker) });
    }
  }
}

function entryOf(counters: readonly Counter[], cost: number): StoreEntry {
  return { counters, cost, mode: 'take' };
}

function inShadow({ plan }: Counter): boolean {
  return plan.rule.mode === 'shadow';
}

/** What decides together: the rules that would be in force, and each other one alone. */
function partsOf(counters: readonly Counter[]): (readonly Counter[])[] {
  const enforced = counters.filter((counter) => !inShadow(counter));
  const apart = counters.filter(inShadow).map((counter) => [counter]);
  return enforced.length === 0 ? apart : [enforced, ...apart];
}
