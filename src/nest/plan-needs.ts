import type { CounterPlan } from '../core/counter-plan.js';
import { BUILT_IN_DIMENSIONS } from '../core/dimension.js';
import { waits } from './waiting.js';

/** What has to be known, and looked after, to decide by some rules. */
export interface PlanNeeds {
  /** Whether the address may be needed although the user is known. */
  readonly address: boolean;
  /** The application's own dimensions. */
  readonly dimensions: readonly string[];
  /** Whether a request may be made to wait. */
  readonly waits: boolean;
  /** Whether it is known only afterwards if the request stays counted. */
  readonly outcome: boolean;
}

const known = new WeakMap<readonly CounterPlan[], PlanNeeds>();

/** Worked out once for each list of rules, which are many requests'. */
export function needsOf(plans: readonly CounterPlan[]): PlanNeeds {
  let needs = known.get(plans);
  if (!needs) {
    const dimensions = [...new Set(plans.flatMap(({ by }) => by))];
    const isOwn = (name: string) => !BUILT_IN_DIMENSIONS.some((one) => one === name);
    needs = {
      address: dimensions.some((name) => name !== 'user' && name !== 'api'),
      dimensions: dimensions.filter(isOwn),
      waits: plans.some(waits),
      outcome: plans.some(({ rule }) => rule.count !== 'all'),
    };
    known.set(plans, needs);
  }
  return needs;
}
