import type { Provider } from '@nestjs/common';
import { ApplicationConfig, ModuleRef, ModulesContainer } from '@nestjs/core';
import { Clock, RuleBook } from '../core/index.js';
import { CurrentRules } from './current-rules.js';
import { Dimensions } from './dimensions.js';
import { RateLimitEvents } from './events.js';
import { HandlerCatalog } from './handler-catalog.js';
import { RuleSources } from './rule-sources.js';
import { type Settings, surroundingsOf } from './settings.js';
import { TierSource } from './tier-source.js';
import { SETTINGS } from './tokens.js';
import { Warnings } from './warnings.js';

/** The rules and who is looked up by them. */
export const ruleProviders: Provider[] = [
  {
    provide: HandlerCatalog,
    inject: [ModulesContainer, ApplicationConfig],
    useFactory: (modules: ModulesContainer, config: ApplicationConfig) =>
      new HandlerCatalog(modules, config),
  },
  {
    provide: CurrentRules,
    inject: [RuleBook, RuleSources, HandlerCatalog, SETTINGS, RateLimitEvents, Warnings],
    useFactory: (
      book: RuleBook,
      sources: RuleSources,
      catalog: HandlerCatalog,
      settings: Settings,
      events: RateLimitEvents,
      warnings: Warnings,
    ) => {
      const { mode, tierOf, always } = settings;
      const surroundings = surroundingsOf(settings);
      const parts = { catalog, surroundings, mode, tiersAsked: tierOf !== undefined };
      return new CurrentRules(book, sources, parts, always, events, warnings);
    },
  },
  {
    provide: TierSource,
    inject: [SETTINGS, CurrentRules, Clock, ModuleRef, RateLimitEvents, Warnings],
    useFactory: (
      settings: Settings,
      current: CurrentRules,
      clock: Clock,
      moduleRef: ModuleRef,
      events: RateLimitEvents,
      warnings: Warnings,
    ) => {
      const surroundings = surroundingsOf(settings);
      const parts = { settings, rules: current, surroundings, clock, moduleRef, events, warnings };
      return new TierSource(parts);
    },
  },
  {
    provide: Dimensions,
    inject: [SETTINGS, Warnings],
    useFactory: ({ dimensions, secretKey }: Settings, warnings: Warnings) =>
      new Dimensions(dimensions, secretKey ?? crypto.getRandomValues(new Uint8Array(32)), warnings),
  },
];
