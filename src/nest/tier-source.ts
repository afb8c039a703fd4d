import type { ExecutionContext } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { Faults, messageOf, nearest, quote } from '../core/fault.js';
import type { Clock } from '../core/index.js';
import { NamedRules } from '../core/policy-names.js';
import { checkAvailable, type Surroundings } from '../core/rule-availability.js';
import { SteadyClock } from '../core/steady-clock.js';
import { answerPlace, readTierAnswer, type Tier, type TierRules } from '../core/tier-rules.js';
import { Tiers } from '../core/tiers.js';
import type { CurrentRules } from './current-rules.js';
import type { RateLimitEvents } from './events.js';
import type { RulesInForce } from './rules-in-force.js';
import type { Settings } from './settings.js';
import { isResolver, isResolverClass, type TierOf, type TierResolver } from './tier-resolver.js';
import type { Warnings } from './warnings.js';

/** Tiers nobody defined that are told of; more at once would be names made up as they go. */
const MAX_UNKNOWN = 20;

/** Tiers of the book that one line lists. */
const MAX_LISTED = 20;

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
  /** The names that are taken, and under which rules they are. */
  private names: { readonly of: RulesInForce; readonly taken: NamedRules } | undefined;
  private resolver: TierResolver | undefined;
  private readonly callable: TierOf | undefined;

  constructor(private readonly parts: TierParts) {
    const { settings, clock, events, warnings } = parts;
    const { tierOf } = settings;
    if (tierOf === undefined) return;
    if (isResolver(tierOf)) this.resolver = tierOf;
    else if (!isResolverClass(tierOf)) this.callable = tierOf;
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
    if (!isResolverClass(tierOf)) return;
    const fault = (problem: string) =>
      faults.add({ code: 'OPTION_VALUE', place: 'option tierOf', given: tierOf.name, problem });
    try {
      const provided: unknown = this.parts.moduleRef.get(tierOf, { strict: false });
      if (isResolver(provided)) this.resolver = provided;
      else fault('what is provided for it has no method tierOf');
    } catch (error) {
      fault(`no module provides it, or not one for the whole application: ${messageOf(error)}`);
    }
  }

  /** Other rules are in force: what was answered may have a name by now that they have given. */
  rulesReplaced(): void {
    this.tiers?.forget((tier) => {
      if (tier === undefined || typeof tier === 'string') return false;
      const faults = new Faults();
      this.check(tier, faults);
      return faults.list.length > 0;
    });
  }

  private ask(userId: string, ctx: ExecutionContext | undefined): unknown {
    if (this.resolver) return this.resolver.tierOf(userId, ctx);
    if (!this.callable) throw new Error('The provider of tierOf is not there yet');
    return this.callable(userId, ctx);
  }

  /** @throws RateLimitConfigError for an answer that is no tier and no rules */
  private read(answer: unknown): Tier | undefined {
    const faults = new Faults();
    const tier = readTierAnswer(answer, faults);
    if (tier !== undefined && typeof tier !== 'string') this.check(tier, faults);
    faults.throwIfAny();
    if (typeof tier === 'string') this.warnUnknown(tier);
    return tier;
  }

  /** What the rules ask for is there, and no name of theirs stands for another rule. */
  private check({ entries }: TierRules, faults: Faults): void {
    for (const { api, placed } of entries) {
      const told = { ...placed, place: answerPlace(api) };
      checkAvailable(told.policy, told.place, this.parts.surroundings, faults);
      if (placed.policy.rules.some(({ name }) => name !== undefined)) {
        this.takenNames().check(told, faults);
      }
    }
  }

  private takenNames(): NamedRules {
    const { now } = this.parts.rules;
    if (this.names?.of !== now) {
      const taken = new NamedRules();
      for (const placed of [...now.book.entries, ...now.decoratedPolicies()]) taken.add(placed);
      this.names = { of: now, taken };
    }
    return this.names.taken;
  }

  /** Such a user goes without a tier, by the other rules of the book. */
  private warnUnknown(tier: string): void {
    const { book } = this.parts.rules.now;
    if (book.hasTier(tier) || this.unknown.has(tier) || this.unknown.size >= MAX_UNKNOWN) return;
    this.unknown.add(tier);
    const names = [...book.tierNames];
    const near = nearest(tier, names);
    const meant = near === undefined ? '' : ` (did you mean ${quote(near)}?)`;
    this.parts.warnings.warn(
      `tierOf answers ${quote(tier)}, which the rule book does not define${meant}; ${listOf(names)}. Such users go without a tier`,
    );
  }
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'no tier is defined';
  const more = names.length - MAX_LISTED;
  const listed = names.slice(0, MAX_LISTED).map(quote).join(', ');
  return `the tiers are ${listed}${more > 0 ? `, and ${more} more` : ''}`;
}
