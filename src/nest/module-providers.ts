import type { Provider } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { Faults } from '../core/fault.js';
import {
  Clock,
  LimiterFactory,
  MemoryStore,
  RateLimitStore,
  RuleBook,
  SystemClock,
} from '../core/index.js';
import { Admission } from './admission.js';
import { CallSubjects } from './call-subjects.js';
import { CurrentRules } from './current-rules.js';
import { Deciding } from './deciding.js';
import { Dimensions } from './dimensions.js';
import { Doors } from './doors.js';
import { RateLimitEvents } from './events.js';
import { HandlerCatalog } from './handler-catalog.js';
import { HttpAnswer } from './http-answer.js';
import { Lifecycle } from './lifecycle.js';
import { RateLimitGuardParts } from './rate-limit.guard.js';
import { RateLimitService } from './rate-limit.service.js';
import { RequestIdentity } from './request-identity.js';
import { RoutePlans } from './route-plans.js';
import { ruleProviders } from './rule-providers.js';
import { RuleSources } from './rule-sources.js';
import { SecondDoorInterceptor } from './second-door.interceptor.js';
import { readSettings, type Settings } from './settings.js';
import { TierSource } from './tier-source.js';
import { FAULTS, OPTIONS, SETTINGS } from './tokens.js';
import { Transports } from './transports/index.js';
import { Warnings } from './warnings.js';

/** A provider whose factory's arguments are what is injected. */
type Injected = Extract<Provider, { useFactory: unknown }>;

/** What the options say, and what an application may put its own in place of. */
const replaceable: Injected[] = [
  { provide: FAULTS, useFactory: () => new Faults() },
  { provide: SETTINGS, inject: [OPTIONS, FAULTS], useFactory: readSettings },
  { provide: Clock, useFactory: () => new SystemClock() },
  { provide: RuleSources, inject: [SETTINGS, FAULTS], useFactory: RuleSources.ofOptions },
  {
    provide: RuleBook,
    inject: [RuleSources, FAULTS],
    useFactory: (sources: RuleSources, faults: Faults) => sources.read(faults),
  },
  {
    provide: RateLimitStore,
    inject: [SETTINGS],
    useFactory: ({ store }: Settings) => store ?? new MemoryStore(),
  },
  {
    provide: LimiterFactory,
    inject: [Clock, SETTINGS],
    useFactory: (clock: Clock, { maxWaiters }: Settings) =>
      new LimiterFactory(clock, new MemoryStore(), { maxWaiters }),
  },
];

/** Where all of it decides. */
const deciding: Injected[] = [
  {
    provide: Deciding,
    inject: [RateLimitStore, Clock, CurrentRules, RateLimitEvents, Warnings, SETTINGS, FAULTS],
    useFactory: (
      store: RateLimitStore,
      clock: Clock,
      current: CurrentRules,
      events: RateLimitEvents,
      warnings: Warnings,
      { maxWaiters, warnAt }: Settings,
      faults: Faults,
    ) =>
      new Deciding({ store, clock, rules: current, events, warnings, maxWaiters, warnAt, faults }),
  },
  {
    provide: CallSubjects,
    inject: [CurrentRules, TierSource, Dimensions, Warnings, SETTINGS],
    useFactory: (
      current: CurrentRules,
      { tiers }: TierSource,
      dimensions: Dimensions,
      warnings: Warnings,
      { ipv6Prefix, normalizeId }: Settings,
    ) => new CallSubjects({ rules: current, tiers, dimensions, warnings, ipv6Prefix, normalizeId }),
  },
  {
    provide: RateLimitService,
    inject: [
      CallSubjects,
      Deciding,
      RateLimitStore,
      HandlerCatalog,
      CurrentRules,
      TierSource,
      RateLimitEvents,
    ],
    useFactory: (
      calls: CallSubjects,
      decides: Deciding,
      store: RateLimitStore,
      catalog: HandlerCatalog,
      current: CurrentRules,
      { tiers }: TierSource,
      events: RateLimitEvents,
    ) =>
      new RateLimitService({
        calls,
        deciding: decides,
        store,
        catalog,
        rules: current,
        tiers,
        events,
      }),
  },
  {
    provide: Doors,
    inject: [ApplicationConfig, SETTINGS],
    useFactory: (config: ApplicationConfig, settings: Settings) => new Doors(config, settings),
  },
  {
    provide: Transports,
    inject: [SETTINGS, RateLimitEvents, Warnings],
    useFactory: (settings: Settings, events: RateLimitEvents, warnings: Warnings) =>
      new Transports(new HttpAnswer(settings, warnings), settings.graphql.per, events),
  },
  {
    provide: Admission,
    inject: [
      CurrentRules,
      HandlerCatalog,
      Doors,
      SETTINGS,
      Dimensions,
      Warnings,
      TierSource,
      Deciding,
      CallSubjects,
    ],
    useFactory: (
      current: CurrentRules,
      catalog: HandlerCatalog,
      doors: Doors,
      settings: Settings,
      dimensions: Dimensions,
      warnings: Warnings,
      { tiers }: TierSource,
      decides: Deciding,
      { warnSkipped }: CallSubjects,
    ) =>
      new Admission({
        plans: new RoutePlans(current, catalog, doors),
        identity: new RequestIdentity(settings, dimensions, warnings),
        tiers,
        deciding: decides,
        warnSkipped,
      }),
  },
  {
    provide: RateLimitGuardParts,
    inject: [Transports, Admission, Warnings, SETTINGS, CurrentRules],
    useFactory: (
      transports: Transports,
      admission: Admission,
      warnings: Warnings,
      { skip }: Settings,
      current: CurrentRules,
    ) => new RateLimitGuardParts(transports, admission, warnings, skip, current),
  },
];

/** Everything the module is made of, but the guard, which the application may choose. */
export const moduleProviders: Provider[] = [
  Warnings,
  RateLimitEvents,
  Lifecycle,
  SecondDoorInterceptor,
  ...replaceable,
  ...ruleProviders,
  ...deciding,
];
