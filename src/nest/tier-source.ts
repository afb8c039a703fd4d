import type { ExecutionContext } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { Faults, messageOf, nearest } from '../core/fault.js';
import type { Clock } from '../core/index.js';
import { checkAvailable, type Surroundings } from '../core/rule-availability.js';
import { SteadyClock } from '../core/steady-clock.js';
import { readTierAnswer, type Tier } from '../core/tier-rules.js';
import { Tiers } from '../core/tiers.js';
import type { CurrentRules } from './current-rules.js';
import type { RateLimitEvents } from './events.js';
import type { Settings } from './settings.js';
import { type TierOf, TierResolver } from './tier-resolver.js';
import type { Warnings } from './warnings.js';

/** Tiers nobody defined that are told of; more at once would be names made up as they go. */
const MAX_UNKNOWN = 20;

/** What tiers are told by. */
export interface TierParts {
  readonly settings: Pick<Settings, 'tierOf' | 'tierCacheMillis' | 'tierTimeoutMillis'>;
  readonly rules: CurrentRules;
  readonly surroundings: Surroundings;
  readonly clock: Clock;
  readonly moduleRef: ModuleRef;
  readonly events: RateLimitEvents;
  readonly warnings: Warnings;
}

/** What the option `tierOf` means in this application, and the cache before it. */
export class TierSource {
  /** Undefined where no tiers are asked for. */
  readonly tiers: Tiers | undefined;
  private readonly unknown = new Set<string>();
  private resolver: TierResolver | undefined;

  constructor(private readonly parts: TierParts) {
    const { settings, clock, events, warnings } = parts;
    if (settings.tierOf === undefined) return;
    const { tierCacheMillis: cacheMillis, tierTimeoutMillis: timeoutMillis } = settings;
    this.tiers = new Tiers(
      (userId, ctx) => this.ask(userId, ctx as ExecutionContext | undefined),
      SteadyClock.over(clock),
      { cacheMillis, timeoutMillis },
      {
        failed: (userId, error) => {
          const text = 'tierOf failed, and the last known tiers are used, else none';
          warnings.warn(`${text}: ${messageOf(error)}`);
          events.emit({ type: 'tier-failed', userId, error });
        },
        recovered: () => {
          warnings.log('tierOf answers again');
          events.emit({ type: 'tier-recovered' });
        },
      },
      (answer) => this.read(answer),
    );
  }

  /** Finds the provider that the option names; what is wrong with it is added to `faults`. */
  prepare(faults: Faults): void {
    const { tierOf } = this.parts.settings;
    if (tierOf instanceof TierResolver) this.resolver = tierOf;
    if (!isResolverClass(tierOf)) return;
    try {
      this.resolver = this.parts.moduleRef.get<TierResolver>(tierOf, { strict: false });
    } catch (error) {
      const { name } = tierOf;
      const problem = `no module provides it, or not one for the whole application: ${messageOf(error)}`;
      faults.add({ code: 'OPTION_VALUE', place: 'option tierOf', given: name, problem });
    }
  }

  private ask(userId: string, ctx: ExecutionContext | undefined): unknown {
    if (this.resolver) return this.resolver.tierOf(userId, ctx);
    const { tierOf } = this.parts.settings;
    if (isResolverClass(tierOf)) throw new Error(`${tierOf.name} is not there yet`);
    return (tierOf as TierOf)(userId, ctx);
  }

  /** @throws RateLimitConfigError for an answer that is no tier and no rules */
  private read(answer: unknown): Tier | undefined {
    const faults = new Faults();
    const tier = readTierAnswer(answer, faults);
    if (tier !== undefined && typeof tier !== 'string') {
      for (const { placed } of tier.entries) {
        checkAvailable(placed.policy, placed.place, this.parts.surroundings, faults);
      }
    }
    faults.throwIfAny();
    if (typeof tier === 'string') this.warnUnknown(tier);
    return tier;
  }

  /** Such a user goes without a tier, by the other rules of the book. */
  private warnUnknown(tier: string): void {
    const { book } = this.parts.rules.now;
    if (book.hasTier(tier) || this.unknown.has(tier) || this.unknown.size >= MAX_UNKNOWN) return;
    this.unknown.add(tier);
    const names = [...book.tierNames];
    const near = nearest(tier, names);
    const meant = near === undefined ? '' : ` (did you mean "${near}"?)`;
    const known = names.length > 0 ? `the tiers are ${names.join(', ')}` : 'no tier is defined';
    this.parts.warnings.warn(
      `tierOf answers "${tier}", which the rule book does not define${meant}; ${known}. Such users go without a tier`,
    );
  }
}

function isResolverClass(value: unknown): value is new () => TierResolver {
  return typeof value === 'function' && value.prototype instanceof TierResolver;
}
