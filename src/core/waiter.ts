import { algorithmKind } from './algorithms/index.js';
import type { CounterPlan } from './counter-plan.js';
import type { Decision } from './decision.js';
import { isPromise } from './maybe-promise.js';
import type { MaybePromise } from './store.js';

/** How the counters of a line are asked. */
export interface Asks {
  take(cost: number): MaybePromise<Decision>;
  peek(cost: number): MaybePromise<Decision>;
  /** Whether a rule's counts fade, so that asking for all costs of a line at once foretells nothing. */
  readonly fades: boolean;
}

/** Whether a rule's counts fade. */
export function countsFade(plans: readonly CounterPlan[]): boolean {
  return plans.some(({ rule }) => algorithmKind(rule.algorithm)?.fades);
}

/** What somebody who comes to wait brings along. */
export interface Visit {
  /** A whole number, 0 or more. */
  readonly cost: number;
  /**
   * The last moment at which it may be let in. It may depend on which rules refuse; without a
   * refusal it is the earliest of these.
   */
  deadline(refusal?: Decision): number;
  /** Ends the waiting: then it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The refusal that it has met at this moment already. */
  readonly told?: Decision | undefined;
}

/** One who waits in a line. */
export class Waiter {
  readonly cost: number;
  /** The last moment at which it may be let in. */
  deadline: number;
  /** It is being decided: only the answer says now what becomes of it. */
  asking = false;
  readonly answer: Promise<Decision>;
  private resolve!: (decision: MaybePromise<Decision>) => void;
  private reject!: (reason: unknown) => void;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly visit: Visit,
    private readonly asks: Asks,
  ) {
    this.cost = visit.cost;
    this.deadline = visit.deadline();
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get fades(): boolean {
    return this.asks.fades;
  }

  take(): MaybePromise<Decision> {
    return this.asks.take(this.cost);
  }

  peek(cost = this.cost): MaybePromise<Decision> {
    return this.asks.peek(cost);
  }

  /** Goes by the rules that refuse it now. */
  heed(refusal: Decision): void {
    this.deadline = this.visit.deadline(refusal);
  }

  get gaveUp(): boolean {
    return this.visit.signal?.aborted ?? false;
  }

  onGivingUp(listener: () => void): void {
    const { signal } = this.visit;
    signal?.addEventListener('abort', listener, { once: true });
    this.stopListening = () => signal?.removeEventListener('abort', listener);
  }

  /** It is in no line any more. */
  left(): void {
    this.stopListening?.();
  }

  letGo(): void {
    this.reject(this.visit.signal!.reason);
  }

  fail(error: unknown): void {
    this.reject(error);
  }

  tell(decision: Decision): void {
    this.resolve(decision);
  }

  /** Tells how its counters stand; it was not let in, whatever they would allow by now. */
  async tellRefusal(millisLeft: number): Promise<void> {
    try {
      const answer = this.peek();
      const decision = isPromise(answer) ? await answer : answer;
      this.resolve(refused(decision, millisLeft));
    } catch (error) {
      this.reject(error);
    }
  }
}

/** Whether a refusal ends by itself: no waiting helps a cost that never fits, or a lost store. */
export function isWorthWaiting({ reason }: Decision): boolean {
  return reason === 'quota' || reason === 'blocked';
}

/**
 * A refusal of what would fit but for those who came before: it is worth coming again once the
 * first of them has had its turn. The other numbers are as they are.
 */
export function refused(decision: Decision, millisLeft: number): Decision {
  if (!decision.allowed) return decision;
  const retryAfterMillis = Math.max(1, millisLeft);
  return { ...decision, allowed: false, reason: 'quota', retryAfterMillis };
}
