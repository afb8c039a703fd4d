import type { Counter } from '../core/counter-plan.js';
import { assertCost, UNLIMITED } from '../core/decision.js';
import type { Asker } from '../core/identity.js';
import type { Clock, Decision, MaybePromise, Outcome } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import { DecisionEvents } from './decision-events.js';
import type { ServiceParts } from './service-options.js';
import { type Keep, Settlements } from './settlements.js';
import { StoreFallback } from './store-fallback.js';
import { type Leaving, Waiting } from './waiting.js';

/** How one is decided for beside the plain way. */
export interface Ways {
  /** Asks instead of the store: whoever waits. */
  readonly wait?: (() => MaybePromise<Outcome>) | undefined;
  /** Handed what was taken, where it is to be settled. */
  readonly keep?: Keep | undefined;
}

/** How a request is decided for: where it may wait, its leaving is looked for. */
export interface RequestWays extends Pick<Ways, 'keep'> {
  readonly leaving?: (() => Leaving) | undefined;
}

/** Asks the store, and tells those who listen: what all decisions of a module go through. */
export class Deciding {
  readonly events = new DecisionEvents();
  readonly waiting: Waiting;
  readonly settlements: Settlements;
  private readonly store: StoreFallback;

  constructor(
    private readonly parts: ServiceParts,
    private readonly clock: Clock,
  ) {
    this.store = new StoreFallback(parts.store, clock, parts.warnings);
    this.waiting = new Waiting(this.store, clock, parts.maxWaiters);
    this.settlements = new Settlements(this.store, clock);
  }

  decide(
    counters: readonly Counter[],
    asker: Asker,
    cost: number,
    mode: 'take' | 'peek',
    { wait, keep }: Ways = {},
  ): MaybePromise<Decision> {
    assertCost(cost);
    // Where nobody started the application, its faults were not told yet.
    this.parts.faults.throwIfAny();
    if (counters.length === 0) return UNLIMITED;
    const answer = wait
      ? wait()
      : this.store.decide({ counters, cost, mode }, this.clock.nowMillis());
    return andThen(answer, (outcome) => {
      const { decision } = outcome;
      if (keep && decision.allowed) keep(this.settlements.taken(outcome, asker));
      if (mode === 'take' && this.events.observed) {
        const { userId, address, api } = asker;
        this.events.emit({ decision, userId, address, api, cost });
      }
      return decision;
    });
  }

  close(): void {
    this.events.close();
    this.settlements.close();
    this.store.close();
  }
}
