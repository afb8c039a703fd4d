import { type Observable, Subject } from 'rxjs';
import type { Asker } from '../core/identity.js';
import type { Decision, RateLimitConfigError } from '../core/index.js';
import type { RuleChange } from './rule-changes.js';

/** Who asked for what. */
export interface AskerFacts {
  /** The id of the user; undefined for one who is known by address alone. */
  readonly userId: string | undefined;
  readonly address: string | undefined;
  /** The template or name that was asked for. */
  readonly api: string;
}

/** A rule or a module in shadow mode let in what it would have refused. */
export interface WouldRefuseEvent extends AskerFacts {
  readonly type: 'would-refuse';
  /** What it would have said. */
  readonly decision: Decision;
  readonly cost: number;
}

/** A caller came as near to a limit as the option `warnAt` says; told as that is passed. */
export interface NearLimitEvent extends AskerFacts {
  readonly type: 'near-limit';
  readonly policy: string;
  /** Whole, of a bucket rounded up. */
  readonly used: number;
  readonly limit: number;
}

/** A cost turned out higher than estimated, and part of it could be charged to nobody. */
export interface DroppedEvent extends AskerFacts {
  readonly type: 'dropped';
  /** What was taken at first. */
  readonly cost: number;
  /** What it cost in the end. */
  readonly actual: number;
  /** How much of the difference was dropped, by the counter that could bear least. */
  readonly dropped: number;
}

/** An event of a microservice was dropped: nobody waits for an answer that could be told. */
export interface EventRefusedEvent {
  readonly type: 'event-refused';
  /** The pattern of its handler. */
  readonly api: string;
  readonly decision: Decision;
}

/** Other rules are in force. */
export interface ReloadedEvent {
  readonly type: 'reloaded';
  readonly changes: readonly RuleChange[];
}

/** A faulty book was refused as a whole; the old rules stay. */
export interface ReloadRefusedEvent {
  readonly type: 'reload-refused';
  readonly error: RateLimitConfigError;
}

/** `tierOf` failed: the last known tiers are used, else none. Told once until it answers again. */
export interface TierFailedEvent {
  readonly type: 'tier-failed';
  readonly userId: string;
  readonly error: unknown;
}

/** `tierOf` answers again. */
export interface TierRecoveredEvent {
  readonly type: 'tier-recovered';
}

/** What happens beside decisions. */
export type RateLimitEvent =
  | WouldRefuseEvent
  | NearLimitEvent
  | DroppedEvent
  | EventRefusedEvent
  | ReloadedEvent
  | ReloadRefusedEvent
  | TierFailedEvent
  | TierRecoveredEvent;

/** One decision, as those who watch see it. */
export interface DecisionEvent extends AskerFacts {
  readonly decision: Decision;
  readonly cost: number;
  /** Whether a refusal refused nobody: a rule, or the module, is in shadow mode. */
  readonly shadow: boolean;
}

/** Who asked, without the values of dimensions, among which there are secrets. */
export function factsOf({ userId, address, api }: Asker): AskerFacts {
  return { userId, address, api };
}

/** Tells what happens to whoever listens; costs nothing while nobody does. */
export class RateLimitEvents {
  private readonly all = new Subject<RateLimitEvent>();
  private readonly decided = new Subject<DecisionEvent>();
  readonly stream: Observable<RateLimitEvent> = this.all.asObservable();
  readonly decisions: Observable<DecisionEvent> = this.decided.asObservable();

  get observed(): boolean {
    return this.all.observed;
  }

  get decisionsObserved(): boolean {
    return this.decided.observed;
  }

  emit(event: RateLimitEvent): void {
    this.all.next(event);
  }

  decision(event: DecisionEvent): void {
    this.decided.next(event);
  }

  close(): void {
    this.all.complete();
    this.decided.complete();
  }
}
