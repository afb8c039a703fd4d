import type { Faults } from '../core/fault.js';
import type {
  AcquireOptions,
  Clock,
  PolicySource,
  RateLimitStore,
  RuleBook,
} from '../core/index.js';
import type { Surroundings } from '../core/rule-availability.js';
import type { CheckedRule } from '../core/rule-types.js';
import type { HandlerCatalog } from './handler-catalog.js';
import type { Warnings } from './warnings.js';

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
  readonly book: RuleBook;
  readonly store: RateLimitStore;
  readonly clock: Clock;
  readonly catalog: HandlerCatalog;
  readonly surroundings: Surroundings;
  readonly ipv6Prefix: number;
  readonly maxWaiters: number;
  readonly normalizeId: ((id: string) => string) | undefined;
  readonly warnings: Warnings;
  /** Faults of options and book: with any, nothing is decided. */
  readonly faults: Faults;
}
