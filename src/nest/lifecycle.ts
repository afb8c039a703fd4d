import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { Faults } from '../core/fault.js';
import { Clock, LimiterFactory, RateLimitStore } from '../core/index.js';
import { SteadyClock } from '../core/steady-clock.js';
import { CurrentRules } from './current-rules.js';
import { Deciding } from './deciding.js';
import { Doors } from './doors.js';
import { RateLimitEvents } from './events.js';
import { HandlerCatalog } from './handler-catalog.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RuleSources } from './rule-sources.js';
import { RulesFile } from './rules-file.js';
import { SecondDoorInterceptor } from './second-door.interceptor.js';
import type { Settings } from './settings.js';
import { checkAtStart, tellAtStart, tellStoreEvents, warnOfRules } from './startup.js';
import { TierSource } from './tier-source.js';
import { FAULTS, SETTINGS } from './tokens.js';
import { keepReplies } from './transports/index.js';
import { Warnings } from './warnings.js';

/** What happens once when the application starts, and once when it stops. */
@Injectable()
export class Lifecycle {
  private started = false;
  private stopTelling: (() => void) | undefined;
  private rulesFile: RulesFile | undefined;

  constructor(
    @Inject(SETTINGS) readonly settings: Settings,
    @Inject(FAULTS) readonly faults: Faults,
    @Inject(CurrentRules) readonly rules: CurrentRules,
    @Inject(RuleSources) private readonly sources: RuleSources,
    @Inject(TierSource) readonly tierSource: TierSource,
    @Inject(RateLimitStore) readonly store: RateLimitStore,
    @Inject(HandlerCatalog) readonly catalog: HandlerCatalog,
    @Inject(ModulesContainer) readonly modules: ModulesContainer,
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(Doors) readonly doors: Doors,
    @Inject(SecondDoorInterceptor) private readonly door: SecondDoorInterceptor,
    @Inject(Deciding) private readonly deciding: Deciding,
    @Inject(RateLimitEvents) private readonly events: RateLimitEvents,
    @Inject(LimiterFactory) private readonly limiters: LimiterFactory,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(Warnings) readonly warnings: Warnings,
  ) {}

  /**
   * Called twice where there is HTTP, and works once.
   *
   * @throws RateLimitConfigError with every fault there is
   */
  start(module: object): void {
    if (this.started) return;
    this.started = true;
    checkAtStart(this, module);
    const guard = this.moduleRef.get(RateLimitGuard);
    if (this.catalog.hasResolvers) keepReplies(this.adapterHost.httpAdapter);
    this.doors.settle(guard, this.door, this.catalog, this.rules.now);
    tellAtStart(this);
    this.rules.watch(() => {
      this.tierSource.rulesReplaced();
      warnOfRules(this);
    });
    this.stopTelling = tellStoreEvents(this);
    this.watchRulesFile();
  }

  /** Before the servers are closed, which wait for the requests that wait here. */
  async stopWaiting(): Promise<void> {
    await Promise.all([this.deciding.waiting.close(), this.limiters.close?.()]);
  }

  async stop(): Promise<void> {
    this.rulesFile?.close();
    this.tierSource.tiers?.close();
    this.events.close();
    this.deciding.close();
    // First: a store that is closed on purpose has not failed.
    this.stopTelling?.();
    await this.store.close();
  }

  private watchRulesFile(): void {
    const { path, pollMillis } = this.settings.rulesFile ?? {};
    if (path === undefined || pollMillis === undefined) return;
    const tell = {
      changed: (text: string) => this.rules.fileChanged(text, path),
      unreadable: (error: Error) =>
        this.warnings.warn(
          `The rules file ${path} cannot be read, and the rules stay: ${error.message}`,
        ),
    };
    this.rulesFile = new RulesFile({ path, pollMillis }, SteadyClock.over(this.clock), tell);
    this.rulesFile.start(this.sources.file);
  }
}
