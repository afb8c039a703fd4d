import { type ApiName, parseApiName } from '../core/api-name.js';
import {
  ApplicableLimits,
  type DecoratedLimits,
  type MeantLimits,
  unique,
} from '../core/applicable-limits.js';
import type { CounterPlan, PlacedPolicy } from '../core/counter-plan.js';
import { Faults } from '../core/fault.js';
import type { PolicySource, RuleBook } from '../core/index.js';
import { checkNames } from '../core/policy-names.js';
import type { Surroundings } from '../core/rule-availability.js';
import type { Tier } from '../core/tier-rules.js';
import { checkBook, checkFields } from './book-check.js';
import { readDecorated } from './decorated-limits.js';
import type { HandlerCatalog, HandlerEntry } from './handler-catalog.js';
import { InlinePolicies } from './inline-policies.js';
import { checkPlaces } from './place-conflicts.js';
import type { ModuleMode } from './settings.js';

/** What a book is read in front of. */
export interface RulesParts {
  readonly catalog: HandlerCatalog;
  readonly surroundings: Surroundings;
  /** The mode of the options, for books that say none. */
  readonly mode: ModuleMode;
  /** Whether tiers are asked for: then no answer is the same for everybody. */
  readonly tiersAsked: boolean;
}

/**
 * All that follows from one rule book: what the decorators say under it, and the policies that
 * calls hand in. Replaced as a whole when rules are reloaded, and so never half old, half new.
 */
export class RulesInForce {
  readonly mode: ModuleMode;
  private readonly decorated = new Map<HandlerEntry, DecoratedLimits>();
  private inline: InlinePolicies | undefined;

  constructor(
    readonly book: RuleBook,
    private readonly parts: RulesParts,
  ) {
    this.mode = (book.mode as ModuleMode | undefined) ?? parts.mode;
  }

  /** Reads book and decorators; each fault is added to `faults`. */
  check(faults: Faults): void {
    const { catalog, surroundings } = this.parts;
    // Of classes too, for the faults of a class whose handlers all have rules of their own.
    for (const decorated of catalog.classes()) {
      readDecorated(decorated, this.book, surroundings, faults);
    }
    for (const entry of catalog.all()) {
      this.decorated.set(entry, readDecorated(entry.decorated, this.book, surroundings, faults));
    }
    checkPlaces(catalog, (entry) => this.decorated.get(entry), faults);
    checkBook(this.book, surroundings, faults);
    checkFields(this.book, catalog, faults);
    checkNames([...new Set([...this.book.entries, ...this.decoratedPolicies()])], faults);
  }

  /**
   * What the decorators of a handler say.
   *
   * @throws RateLimitConfigError when one of a module that was loaded later is faulty: never let
   * through by mistake
   */
  decoratedLimits(entry: HandlerEntry): DecoratedLimits {
    if (!this.decorated.has(entry)) {
      const faults = new Faults();
      const { surroundings } = this.parts;
      const limits = readDecorated(entry.decorated, this.book, surroundings, faults);
      faults.throwIfAny();
      this.decorated.set(entry, limits);
    }
    return this.decorated.get(entry);
  }

  /** Which limits apply to a handler under a route; without a handler, to an api by name. */
  limitsOf(entry: HandlerEntry | undefined, api: ApiName): ApplicableLimits {
    const decorated = entry && this.decoratedOf(entry, api);
    return new ApplicableLimits(this.book, decorated, api, this.parts.tiersAsked);
  }

  /** Whether it matters to some rule how a call ends. */
  get countsOutcomes(): boolean {
    return [...this.book.entries, ...this.decoratedPolicies()].some(countsByOutcome);
  }

  /**
   * Whether no two calls of a handler can be one attempt: since what they cost follows from each, or
   * it matters how each ends. A right password would else pay for the wrong ones beside it.
   */
  countsEachCall(entry: HandlerEntry, { name }: ApiName): boolean {
    if (typeof entry.cost?.cost === 'function' || entry.cost?.settle) return true;
    const decorated = this.decoratedLimits(entry);
    if (Array.isArray(decorated) && decorated.some(countsByOutcome)) return true;
    return this.book.entriesFor(name).some(countsByOutcome);
  }

  /**
   * The rules that decide a call of the service: the policy's, else those of the book that win.
   *
   * @throws RateLimitConfigError for a faulty policy
   */
  plansFor(
    userId: string | undefined,
    api: ApiName,
    tier: Tier | undefined,
    policy: PolicySource | undefined,
  ): readonly CounterPlan[] {
    if (policy !== undefined) return this.plansOf(policy);
    return this.limitsOf(undefined, api).plansFor(userId, tier);
  }

  /** The policy's rules, else those of the book for every method, and of every decorated handler. */
  everyPlan(
    userId: string | undefined,
    api: string,
    tier: Tier | undefined,
    policy: PolicySource | undefined,
  ): readonly CounterPlan[] {
    const serving = policy === undefined ? this.parts.catalog.serving(api) : [];
    if (serving.length === 0) return this.plansFor(userId, parseApiName(api), tier, policy);
    const limits = serving.map(({ entry, route }) => this.limitsOf(entry, route));
    return unique(limits.flatMap((one) => one.plansFor(userId, tier)));
  }

  /** The policies that decorators name or hold, each once. */
  decoratedPolicies(): PlacedPolicy[] {
    const limits = [...this.parts.catalog.all()].map((entry) => this.decoratedLimits(entry));
    return [...new Set(limits.flatMap((one) => (one === undefined || one === 'skip' ? [] : one)))];
  }

  /**
   * A field is resolved for each item of a list: only what is meant for it limits it, its own
   * decorator or an entry of its name.
   */
  private decoratedOf(entry: HandlerEntry, { name }: ApiName): DecoratedLimits | MeantLimits {
    const decorated = this.decoratedLimits(entry);
    if (decorated !== undefined || !entry.isField) return decorated;
    return this.book.names(name) ? 'named' : 'unlimited';
  }

  private plansOf(policy: PolicySource): readonly CounterPlan[] {
    const { book, parts } = this;
    this.inline ??= new InlinePolicies(book, () => this.decoratedPolicies(), parts.surroundings);
    return this.inline.plansOf(policy);
  }
}

function countsByOutcome({ policy }: PlacedPolicy): boolean {
  return policy.rules.some(({ count }) => count !== 'all');
}
