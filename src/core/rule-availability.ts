import { algorithmKind } from './algorithms/index.js';
import { BUILT_IN_DIMENSIONS } from './dimension.js';
import { type Fault, type Faults, nearest } from './fault.js';
import type { Policy } from './policy.js';

/** Limits of exact logs above this are refused, unless the option `maxLogLimit` says otherwise. */
export const DEFAULT_MAX_LOG_LIMIT = 1000;

/** What the surroundings of a rule can offer. */
export interface Surroundings {
  readonly maxLogLimit: number;
  readonly dimensions: readonly string[];
  /** Whether a request can be made to wait. */
  readonly waits: boolean;
  /** Whether it can be known how a request ended, for rules that count failures or successes. */
  readonly outcomes: boolean;
  /** Whether it is told what a rule would have refused. */
  readonly shadow: boolean;
}

export const DEFAULT_SURROUNDINGS: Surroundings = {
  maxLogLimit: DEFAULT_MAX_LOG_LIMIT,
  dimensions: BUILT_IN_DIMENSIONS,
  waits: false,
  outcomes: false,
  shadow: false,
};

/** A rule that reads well may still ask for what is not there: a fault, never a silent neglect. */
export function checkAvailable(
  policy: Policy,
  place: string,
  { maxLogLimit, dimensions, waits, outcomes, shadow }: Surroundings,
  faults: Faults,
): void {
  for (const rule of policy.rules) {
    const fault = (code: Fault['code'], problem: string, meant?: string) =>
      faults.add({ code, place, given: rule.toString(), problem, meant });
    if (algorithmKind(rule.algorithm)?.growsWithLimit && rule.limit > maxLogLimit) {
      const instead = 'use sliding-window-counter, or raise the option maxLogLimit';
      fault('RULE_LOG_TOO_LARGE', `a log keeps each request, at most ${maxLogLimit}; ${instead}`);
    }
    for (const dimension of rule.by.filter((name) => !dimensions.includes(name))) {
      const known = `use ${dimensions.join(', ')}`;
      const unknown = `unknown dimension ${JSON.stringify(dimension)}; ${known}`;
      fault('RULE_DIMENSION', unknown, nearest(dimension, dimensions));
    }
    if (rule.waitMillis > 0 && !waits) {
      const instead = 'use RateLimitModule, or acquire with timeoutMillis';
      fault('RULE_NOT_AVAILABLE', `wait is for requests, which a guard can hold; ${instead}`);
    }
    if (rule.count !== 'all' && !outcomes) {
      const instead = 'use RateLimitModule, whose guard sees the answer';
      fault(
        'RULE_NOT_AVAILABLE',
        `count=${rule.count} needs to know how a request ended; ${instead}`,
      );
    }
    if (rule.mode === 'shadow' && !shadow) {
      const instead = 'use RateLimitModule, which tells what it would have refused';
      fault('RULE_NOT_AVAILABLE', `mode=shadow lets all in; ${instead}`);
    }
  }
}
