import type { AcquireOptions, PolicySource, RateLimitStore } from '../core/index.js';
import type { CheckedRule } from '../core/rule-types.js';
import type { Tiers } from '../core/tiers.js';
import type { CallSubjects } from './call-subjects.js';
import type { CurrentRules } from './current-rules.js';
import type { Deciding } from './deciding.js';
import type { RateLimitEvents } from './events.js';
import type { HandlerCatalog } from './handler-catalog.js';

/** What a call of the service may say beside user and api. */
export interface CallOptions<T extends PolicySource = PolicySource> {
  /** Values of dimensions; `ip` is the client's address. */
  readonly dimensions?: Readonly<Record<string, string>>;
  /** Used instead of the book's: text, an object, a Rule, a Policy, or a policy's name. */
  readonly policy?: T & CheckedRule<T>;
}

/** The same of a call that takes something. */
export interface CheckOptions<T extends PolicySource = PolicySource> extends CallOptions<T> {
  /** What the request takes: a whole number, 0 or more. Default 1. */
  readonly cost?: number;
}

/** The same of a call that may wait. */
export interface WaitOptions<T extends PolicySource = PolicySource>
  extends CheckOptions<T>,
    Pick<AcquireOptions, 'timeoutMillis' | 'signal'> {}

/** The parts a service works with. */
export interface ServiceParts {
  readonly calls: CallSubjects;
  readonly rules: CurrentRules;
  readonly tiers: Tiers | undefined;
  readonly store: RateLimitStore;
  readonly catalog: HandlerCatalog;
  readonly deciding: Deciding;
  readonly events: RateLimitEvents;
}
