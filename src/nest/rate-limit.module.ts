import {
  type BeforeApplicationShutdown,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Inject,
  Module,
  type NestModule,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { APP_GUARD, ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { Faults } from '../core/fault.js';
import {
  Clock,
  LimiterFactory,
  MemoryStore,
  RateLimitStore,
  RuleBook,
  SystemClock,
} from '../core/index.js';
import { createBook } from './book-provider.js';
import { HandlerCatalog } from './handler-catalog.js';
import { HttpTransport } from './http.transport.js';
import type {
  AnyOptions,
  Checked,
  RateLimitAsyncOptions,
  RateLimitExtras,
  RateLimitOptions,
} from './options.js';
import { RateLimitGuard, RateLimitGuardParts } from './rate-limit.guard.js';
import { RateLimitService } from './rate-limit.service.js';
import { RequestIdentity } from './request-identity.js';
import { readSettings, type Settings, surroundingsOf } from './settings.js';
import { checkAtStart, type StartupParts, tellAtStart, tellStoreEvents } from './startup.js';
import { FAULTS, OPTIONS, SETTINGS } from './tokens.js';
import { Warnings } from './warnings.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<RateLimitOptions>({
  optionsInjectionToken: OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createRateLimitOptions')
  .setExtras<RateLimitExtras>({ guard: undefined as never }, (definition, { guard }) => ({
    ...definition,
    global: true,
    providers: [...(definition.providers ?? []), ...guardProviders(guard)],
  }))
  .build();

function guardProviders(guard: RateLimitExtras['guard']): Provider[] {
  return [
    { provide: RateLimitGuard, useClass: guard || RateLimitGuard },
    ...(guard === false ? [] : [{ provide: APP_GUARD, useExisting: RateLimitGuard }]),
  ];
}

const providers: Provider[] = [
  Warnings,
  { provide: FAULTS, useFactory: () => new Faults() },
  { provide: SETTINGS, inject: [OPTIONS, FAULTS], useFactory: readSettings },
  { provide: Clock, useFactory: () => new SystemClock() },
  {
    provide: RuleBook,
    inject: [SETTINGS, FAULTS],
    useFactory: (settings: Settings, faults: Faults) => createBook(settings, faults),
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
  {
    provide: HandlerCatalog,
    inject: [ModulesContainer, ApplicationConfig, RuleBook, SETTINGS],
    useFactory: (
      modules: ModulesContainer,
      config: ApplicationConfig,
      book: RuleBook,
      settings: Settings,
    ) => new HandlerCatalog(modules, config, book, surroundingsOf(settings)),
  },
  {
    provide: RateLimitService,
    inject: [RuleBook, RateLimitStore, Clock, HandlerCatalog, SETTINGS, Warnings, FAULTS],
    useFactory: (
      book: RuleBook,
      store: RateLimitStore,
      clock: Clock,
      catalog: HandlerCatalog,
      settings: Settings,
      warnings: Warnings,
      faults: Faults,
    ) => {
      const { ipv6Prefix, normalizeId, maxWaiters } = settings;
      const surroundings = surroundingsOf(settings);
      const parts = { book, store, clock, catalog, surroundings, warnings, faults };
      return new RateLimitService({ ...parts, ipv6Prefix, normalizeId, maxWaiters });
    },
  },
  {
    provide: RateLimitGuardParts,
    inject: [RateLimitService, HandlerCatalog, RuleBook, SETTINGS, Warnings],
    useFactory: (
      service: RateLimitService,
      catalog: HandlerCatalog,
      book: RuleBook,
      settings: Settings,
      warnings: Warnings,
    ) => {
      const identity = new RequestIdentity(settings, warnings);
      const http = new HttpTransport(service, catalog, identity, settings);
      const off = (book.mode ?? settings.mode) === 'off';
      return new RateLimitGuardParts(http, warnings, settings.skip, off);
    },
  },
];

/**
 * Rate limiting for the whole application: import it once, in the root module.
 *
 * ```ts
 * RateLimitModule.forRoot({ rules: { default: 'token-bucket,5,10' } })
 * ```
 */
@Module({
  providers,
  exports: [
    Clock,
    RuleBook,
    LimiterFactory,
    RateLimitService,
    RateLimitStore,
    RateLimitGuard,
    // What the guard needs, so that @UseGuards(RateLimitGuard) works in any module.
    RateLimitGuardParts,
  ],
})
export class RateLimitModule
  extends ConfigurableModuleClass
  implements NestModule, OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly parts: StartupParts;
  private started = false;
  private stopTelling: (() => void) | undefined;

  constructor(
    @Inject(SETTINGS) settings: Settings,
    @Inject(RuleBook) book: RuleBook,
    @Inject(RateLimitStore) store: RateLimitStore,
    @Inject(HandlerCatalog) catalog: HandlerCatalog,
    @Inject(ModulesContainer) modules: ModulesContainer,
    @Inject(Warnings) warnings: Warnings,
    @Inject(FAULTS) faults: Faults,
    @Inject(RateLimitService) private readonly service: RateLimitService,
    @Inject(LimiterFactory) private readonly limiters: LimiterFactory,
  ) {
    super();
    const surroundings = surroundingsOf(settings);
    this.parts = { settings, book, store, catalog, modules, warnings, surroundings, faults };
  }

  /** @throws RateLimitConfigError when the application starts, with every fault there is */
  static forRoot<const O extends AnyOptions>(options = {} as Checked<O>): DynamicModule {
    return ConfigurableModuleClass.forRoot.call(RateLimitModule, options as AnyOptions);
  }

  /** Options from a factory, a class or an existing provider; `guard` stands beside it. */
  static forRootAsync<const O extends RateLimitOptions>(
    options: RateLimitAsyncOptions<O>,
  ): DynamicModule {
    if (!options.useFactory && !options.useClass && !options.useExisting) {
      throw new TypeError('RateLimitModule.forRootAsync needs useFactory, useClass or useExisting');
    }
    return ConfigurableModuleClass.forRootAsync.call(RateLimitModule, options as never);
  }

  /** Runs before the routes are mapped, when prefix and versions are settled. */
  configure(): void {
    this.start();
  }

  /** For applications without HTTP, where `configure` is not called. */
  onModuleInit(): void {
    this.start();
  }

  /** Before the servers are closed, which wait for the requests that wait here. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.service.stopWaiting?.(), this.limiters.close?.()]);
  }

  async onApplicationShutdown(): Promise<void> {
    this.service.close?.();
    // First: a store that is closed on purpose has not failed.
    this.stopTelling?.();
    await this.parts.store.close();
  }

  private start(): void {
    if (this.started) return;
    this.started = true;
    checkAtStart(this.parts, RateLimitModule);
    tellAtStart(this.parts);
    this.stopTelling = tellStoreEvents(this.parts);
  }
}
