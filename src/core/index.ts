/*
 * The front door of `nestjs-doorman/core`: rate limiting without Nest. It also hands out the memory
 * store, which the room behind it does not know; nobody inside the house comes through this door.
 */
export {
  type EvictionEvent,
  MemoryStore,
  type MemoryStoreOptions,
} from '../stores/memory/memory.store.js';
export type { AcquireOptions } from './acquire-options.js';
export { Clock, type SleepOptions, SystemClock } from './clock.js';
export type { Counter, CounterPlan } from './counter-plan.js';
export type { Decision, RefusalReason, RuleDecision, Standing } from './decision.js';
export { type Fault, type FaultCode, RateLimitConfigError } from './fault.js';
export { KeyedLimiter, Limiter } from './limiter.js';
export { LimiterFactory, type LimiterFactoryOptions } from './limiter-factory.js';
export { Policy, type PolicySource } from './policy.js';
export { Rule } from './rule.js';
export { RuleBook } from './rule-book.js';
export type { RuleBookSource, SmallBook } from './rule-book-object.js';
export type {
  AlgorithmName,
  CountMode,
  RuleMode,
  RuleObject,
  StoreErrorPolicy,
} from './rule-fields.js';
export type { CheckedRule } from './rule-types.js';
export {
  type MaybePromise,
  type Outcome,
  RateLimitStore,
  type Receipt,
  type StoreEntry,
  SynchronousStore,
} from './store.js';
export type { BreakerState, StoreEvent } from './store-event.js';
export type { TierAnswer } from './tier-rules.js';
