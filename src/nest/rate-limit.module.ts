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
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { Clock, LimiterFactory, RateLimitStore, RuleBook } from '../core/index.js';
import { Lifecycle } from './lifecycle.js';
import { moduleProviders } from './module-providers.js';
import type {
  AnyOptions,
  Checked,
  RateLimitAsyncOptions,
  RateLimitExtras,
  RateLimitOptions,
} from './options.js';
import { RateLimitGuard, RateLimitGuardParts } from './rate-limit.guard.js';
import { RateLimitService } from './rate-limit.service.js';
import { SecondDoorInterceptor } from './second-door.interceptor.js';
import { OPTIONS } from './tokens.js';

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
    // Gateways and microservices bind it before it is known who needs it; HTTP and GraphQL after.
    { provide: APP_INTERCEPTOR, useExisting: SecondDoorInterceptor },
  ];
}

/**
 * Rate limiting for the whole application: import it once, in the root module.
 *
 * ```ts
 * RateLimitModule.forRoot({ rules: { default: 'token-bucket,5,10' } })
 * ```
 */
@Module({
  providers: moduleProviders,
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
  constructor(@Inject(Lifecycle) private readonly lifecycle: Lifecycle) {
    super();
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

  /** Runs before the routes are mapped, when prefix, versions and global guards are settled. */
  configure(): void {
    this.lifecycle.start(RateLimitModule);
  }

  /** For applications without HTTP, where `configure` is not called. */
  onModuleInit(): void {
    this.lifecycle.start(RateLimitModule);
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.lifecycle.stopWaiting();
  }

  onApplicationShutdown(): Promise<void> {
    return this.lifecycle.stop();
  }
}
