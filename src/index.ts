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
  type SleepOptions,
  type SmallBook,
  type Standing,
  type StoreEntry,
  type StoreErrorPolicy,
  type StoreEvent,
  SynchronousStore,
  SystemClock,
  type TierAnswer,
} from './core/index.js';
export type { HeaderDialect, HeaderDialectName } from './http/headers/index.js';
export type { ProblemBody } from './http/problem-body.js';
export type { RefusalBody } from './http/refusal-body.js';
export type { UnavailableBody } from './http/unavailable-body.js';
export { RateLimit, SkipRateLimit } from './nest/decorators.js';
export type { HandlerDescription, RuleDescription } from './nest/describing.js';
export type { DimensionOption, DimensionValue } from './nest/dimension-options.js';
export type {
  AskerFacts,
  DecisionEvent,
  DroppedEvent,
  EventRefusedEvent,
  NearLimitEvent,
  RateLimitEvent,
  ReloadedEvent,
  ReloadRefusedEvent,
  TierFailedEvent,
  TierRecoveredEvent,
  WouldRefuseEvent,
} from './nest/events.js';
export { RateLimitExceededException, RateLimitUnavailableException } from './nest/exceptions.js';
export type { Explanation, RuleExplanation } from './nest/explaining.js';
export type {
  GraphqlOptions,
  HeadersOption,
  RateLimitAsyncOptions,
  RateLimitExtras,
  RateLimitOptions,
  RateLimitOptionsFactory,
  RulesFileOption,
  UserId,
} from './nest/options.js';
export { RateLimitGuard, RateLimitGuardParts } from './nest/rate-limit.guard.js';
export { RateLimitModule } from './nest/rate-limit.module.js';
export { RateLimitService } from './nest/rate-limit.service.js';
export type { RefusalFunction, RefusalOption } from './nest/refusal-bodies.js';
export type { RequestCost } from './nest/request-cost.js';
export type { Reservation } from './nest/reservation.js';
export type { RuleChange } from './nest/rule-changes.js';
export type { CallOptions, CheckOptions, WaitOptions } from './nest/service-options.js';
export type { ModuleMode } from './nest/settings.js';
export { type TierOf, TierResolver } from './nest/tier-resolver.js';
export type { PolicyUtilisation } from './nest/utilisation.js';
