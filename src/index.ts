/* The front door of `nestjs-doorman`. */
export {
  type AcquireOptions,
  type AlgorithmName,
  type BreakerState,
  type CheckedRule,
  Clock,
  type Counter,
  type CounterPlan,
  type CountMode,
  type Decision,
  type Fault,
  type FaultCode,
  KeyedLimiter,
  Limiter,
  LimiterFactory,
  type LimiterFactoryOptions,
  type MaybePromise,
  MemoryStore,
  type Outcome,
  Policy,
  type PolicySource,
  RateLimitConfigError,
  RateLimitStore,
  type Receipt,
  type RefusalReason,
  Rule,
  RuleBook,
  type RuleBookSource,
  type RuleDecision,
  type RuleMode,
  type RuleObject,
  type SmallBook,
  type Standing,
  type StoreEntry,
  type StoreErrorPolicy,
  type StoreEvent,
  SynchronousStore,
  SystemClock,
} from './core/index.js';
export type { HeaderDialect, HeaderDialectName } from './http/headers/index.js';
export type { RefusalBody } from './http/refusal-body.js';
export type { UnavailableBody } from './http/unavailable-body.js';
export type { DecisionEvent } from './nest/decision-events.js';
export { RateLimit, SkipRateLimit } from './nest/decorators.js';
export { RateLimitExceededException, RateLimitUnavailableException } from './nest/exceptions.js';
export type {
  HeadersOption,
  RateLimitAsyncOptions,
  RateLimitExtras,
  RateLimitOptions,
  RateLimitOptionsFactory,
  UserId,
} from './nest/options.js';
export { RateLimitGuard, RateLimitGuardParts } from './nest/rate-limit.guard.js';
export { RateLimitModule } from './nest/rate-limit.module.js';
export { RateLimitService } from './nest/rate-limit.service.js';
export type { RequestCost } from './nest/request-cost.js';
export type { Reservation } from './nest/reservation.js';
export type { CallOptions, CheckOptions, WaitOptions } from './nest/service-options.js';
export type { DroppedEvent } from './nest/settlements.js';
