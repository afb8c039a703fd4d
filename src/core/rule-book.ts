import type { PlacedPolicy } from './counter-plan.js';
import { Faults } from './fault.js';
import { checkNames } from './policy-names.js';
import type { Rule } from './rule.js';
import type { EntryKey } from './rule-book-entry.js';
import type { RuleBookSource } from './rule-book-object.js';
import { type BookParts, readBook } from './rule-book-reader.js';
import { apiKeys, PlacedBook } from './small-book.js';
import type { Tier } from './tier-rules.js';

/**
 * Who may do what how often: rules by user, tier, api and default, named policies, and policies
 * that always join. Immutable; look-ups are a few hash look-ups.
 */
export class RuleBook {
  /** Policies that join whatever wins. */
  readonly always: readonly PlacedPolicy[];
  /** `mode` as the book says it, if it does. */
  readonly mode: string | undefined;
  private readonly root = new PlacedBook();
  private readonly users = new Map<string, PlacedBook>();
  private readonly tiers = new Map<string, PlacedBook>();
  private readonly policies = new Map<string, PlacedPolicy>();

  /** Entries that were read and checked: see `parse`, `of` and `empty`. */
  constructor(private readonly parts: BookParts) {
    this.mode = parts.mode;
    this.always = parts.entries.filter(({ key }) => key.section === 'always');
    for (const entry of parts.entries) this.index(entry.key, entry);
  }

  /**
   * Reads a book from properties text.
   *
   * @throws RateLimitConfigError with every fault of the text
   */
  static parse(text: string): RuleBook {
    return RuleBook.of(text);
  }

  /**
   * Makes a book of its object form or of properties text; later ones override earlier ones entry
   * by entry.
   *
   * @throws RateLimitConfigError with every fault
   */
  static of(...sources: readonly (RuleBookSource | string)[]): RuleBook {
    const faults = new Faults();
    const parts = readBook(
      sources.map((source) => [source]),
      faults,
    );
    checkNames(parts.entries, faults);
    faults.throwIfAny();
    return new RuleBook(parts);
  }

  /** All entries with their places. */
  get entries(): BookParts['entries'] {
    return this.parts.entries;
  }

  /** Whether a user or a tier has rules: if not, the answer depends on the api alone. */
  get personal(): boolean {
    return this.users.size > 0 || this.tiers.size > 0;
  }

  /** The names of its policies. */
  get policyNames(): Iterable<string> {
    return this.policies.keys();
  }

  /** The tiers that have rules in it. */
  get tierNames(): Iterable<string> {
    return this.tiers.keys();
  }

  /** Whether the tier has rules in it. */
  hasTier(name: string): boolean {
    return this.tiers.has(name);
  }

  /** Whether an entry, be it a user's or a tier's, is of this api by name. */
  names(api: string): boolean {
    return this.parts.entries.some(({ key }) => (key.section === 'api' ? key.id : key.api) === api);
  }

  /** The entries that may decide for an api, whoever asks: its own, defaults, what always joins. */
  entriesFor(api: string): BookParts['entries'] {
    return this.parts.entries.filter(({ key }) => {
      const named = key.section === 'api' ? key.id : key.api;
      return key.section !== 'policy' && (named === undefined || named === api);
    });
  }

  /** The named policy. */
  policy(name: string): PlacedPolicy | undefined {
    return this.policies.get(name);
  }

  /**
   * The rules that the book has for this request: the winner's, then those that always join.
   *
   * @param api `METHOD /path`, a path template or a name
   */
  rulesFor(userId: string | undefined, api: string, tier?: string): readonly Rule[] {
    const winner = this.lookUp(userId, api, tier);
    const placed = winner ? [winner, ...this.always] : this.always;
    return placed.flatMap(({ policy }) => policy.rules);
  }

  /** The first of `rulesFor`. */
  ruleFor(userId: string | undefined, api: string, tier?: string): Rule | undefined {
    return this.rulesFor(userId, api, tier)[0];
  }

  /**
   * The entry that wins: the user's, the tier's, the api's, the default; but the first that is
   * `final` before all others. Undefined where none matches.
   *
   * @param tier the name of one (one that the book does not know has no rules), or rules of its own
   */
  lookUp(userId: string | undefined, api: string, tier?: Tier): PlacedPolicy | undefined {
    return this.winner(userId, apiKeys(api), tier);
  }

  /** The same for an api whose names, as `apiKeys` gives them, are worked out once. */
  winner(
    userId: string | undefined,
    keys: readonly string[],
    tier: Tier | undefined,
  ): PlacedPolicy | undefined {
    const [user, ofTier] = this.booksOf(userId, tier);
    return firstOf([
      user?.lookUp(keys),
      ofTier?.lookUp(keys),
      this.root.api(keys),
      this.root.default,
    ]);
  }

  /** The same among the entries that name the api: no default of anybody's. */
  namedWinner(
    userId: string | undefined,
    keys: readonly string[],
    tier: Tier | undefined,
  ): PlacedPolicy | undefined {
    const [user, ofTier] = this.booksOf(userId, tier);
    return firstOf([user?.api(keys), ofTier?.api(keys), this.root.api(keys)]);
  }

  private booksOf(userId: string | undefined, tier: Tier | undefined) {
    const user = userId === undefined ? undefined : this.users.get(userId);
    const ofTier = typeof tier === 'string' ? this.tiers.get(tier) : tier?.book;
    return [user, ofTier] as const;
  }

  private index({ section, id, api }: EntryKey, placed: PlacedPolicy): void {
    if (section === 'default') this.root.set(undefined, placed);
    if (section === 'api') this.root.set(id, placed);
    if (section === 'policy') this.policies.set(id, placed);
    if (section !== 'user' && section !== 'tier') return;
    const books = section === 'user' ? this.users : this.tiers;
    const book = books.get(id) ?? new PlacedBook();
    books.set(id, book);
    book.set(api, placed);
  }
}

/** The first that is `final`, else the first. */
function firstOf(candidates: readonly (PlacedPolicy | undefined)[]): PlacedPolicy | undefined {
  const found = candidates.filter((entry) => entry !== undefined);
  return found.find(({ policy }) => policy.final) ?? found[0];
}
