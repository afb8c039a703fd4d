import type { Decision, MaybePromise } from '../core/index.js';
import type { Tier } from '../core/tier-rules.js';
import type { Outlay } from './outlay.js';
import type { RoutePlan } from './route-plans.js';
import type { StandIns } from './stand-ins.js';

/** One call of a handler, from the first door on: it is one however often the guard runs. */
export interface Attempt {
  readonly plan: RoutePlan;
  admitted: MaybePromise<boolean>;
  /** What it was refused with, where that was thrown at once. */
  refusal: unknown;
  cost: number;
  /** What it took, where that is settled afterwards. */
  outlay: Outlay | undefined;
  /** The same, where the second door has to see how it ends. */
  open: Outlay | undefined;
  /** What the first door charged, where the second is still to come. */
  standIns: StandIns | undefined;
  /** What the first door said. */
  first: Decision | undefined;
  /** What the second said. */
  known: MaybePromise<boolean> | undefined;
  /** The last user's. */
  tier: { readonly userId: string; readonly answer: MaybePromise<Tier | undefined> } | undefined;
}

/** Where an attempt is remembered. */
const ATTEMPT = Symbol.for('nestjs-doorman:attempt');

export interface AttemptHolder {
  [ATTEMPT]?: Attempt;
}

/** The latest attempt that this holds. */
export function attemptIn(holder: AttemptHolder): Attempt | undefined {
  return holder[ATTEMPT];
}

export function remember(holder: AttemptHolder, attempt: Attempt): void {
  holder[ATTEMPT] = attempt;
}

export function newAttempt(plan: RoutePlan): Attempt {
  return {
    plan,
    admitted: false,
    refusal: undefined,
    cost: 1,
    outlay: undefined,
    open: undefined,
    standIns: undefined,
    first: undefined,
    known: undefined,
    tier: undefined,
  };
}
