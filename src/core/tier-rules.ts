import { formatApiName, parseApiName } from './api-name.js';
import type { PlacedPolicy } from './counter-plan.js';
import { type Faults, show } from './fault.js';
import { Policy, type PolicySource, readPolicy } from './policy.js';
import { NamedRules } from './policy-names.js';
import { Rule } from './rule.js';
import type { EntryKey } from './rule-book-entry.js';
import { readBookObject, type SmallBook } from './rule-book-object.js';
import { isPolicyName } from './rule-book-reader.js';
import { SmallBookOfPolicies } from './small-book.js';

/**
 * What a resolver of tiers answers for a user: the name of a tier of the rule book; rules of his
 * own, as a tier's entry would have them; or nothing, where he has no tier.
 */
export type TierAnswer = PolicySource | SmallBook | null | undefined;

/** A tier by its name in the book, or rules that were answered instead. */
export type Tier = string | TierRules;

/** Rules that were answered for a user, at the place `tier` whoever he is. */
export class TierRules {
  private readonly book = new SmallBookOfPolicies();

  constructor(readonly entries: readonly (PlacedPolicy & { readonly api: string | undefined })[]) {
    for (const entry of entries) this.book.add(entry, entry.api);
  }

  lookUp(keys: readonly string[]): PlacedPolicy | undefined {
    return this.book.lookUp(keys);
  }

  /** Its rule text, for a person. */
  toString(): string {
    return this.entries
      .map(({ api, policy }) => (api === undefined ? `${policy}` : `${api}: ${policy}`))
      .join('; ');
  }
}

/** Answers that are remembered; more at once would be texts made up as they go. */
const MAX_TEXTS = 10_000;

/**
 * Reads answers. Equal ones are one, whoever they are for, since what is planned for a policy is
 * kept with it.
 */
export class TierAnswers {
  private readonly texts = new Map<string, TierRules>();

  /** Each fault is added to `faults`; undefined where there is one, or no tier. */
  read(answer: unknown, faults: Faults): Tier | undefined {
    if (answer === undefined || answer === null) return undefined;
    if (typeof answer === 'string' && isPolicyName(answer)) return answer.trim();
    const key = keyOf(answer);
    const known = key === undefined ? undefined : this.texts.get(key);
    if (known) return known;
    const before = faults.list.length;
    const rules = new TierRules(readEntries(answer, faults));
    if (faults.list.length > before) return undefined;
    if (this.texts.size >= MAX_TEXTS) this.texts.clear();
    if (key !== undefined) this.texts.set(key, rules);
    return rules;
  }
}

/** The same text for equal answers; undefined for one that cannot be told by text. */
function keyOf(answer: unknown): string | undefined {
  if (answer instanceof Rule || answer instanceof Policy) return `${answer}`;
  if (typeof answer === 'string') return answer;
  try {
    const text = JSON.stringify(answer, (_, value) =>
      value instanceof Rule || value instanceof Policy ? `${value}` : value,
    );
    return text === undefined ? undefined : `json ${text}`;
  } catch {
    return undefined;
  }
}

function readEntries(answer: unknown, faults: Faults): TierRules['entries'] {
  const names = new NamedRules();
  const place = (api: string | undefined) =>
    api === undefined ? 'tier' : `tier.api.${formatApiName(parseApiName(api))}`;
  return sourcesOf(answer, faults).flatMap(({ api, source }) => {
    const where = `the answer of tierOf${api === undefined ? '' : `, api ${JSON.stringify(api)}`}`;
    const policy = readPolicy(source, where, faults);
    if (!policy) return [];
    const placed = { policy, place: place(api), label: 'tier', api };
    names.check(placed, faults);
    return [placed];
  });
}

/** The rules of an answer by the api they are for: read as the book reads the entry of a tier. */
function sourcesOf(
  answer: unknown,
  faults: Faults,
): { readonly api: string | undefined; readonly source: unknown }[] {
  if (typeof answer !== 'string' && (typeof answer !== 'object' || answer === null)) {
    const problem = 'it answers the name of a tier, rules, or nothing';
    faults.add({ code: 'BOOK_VALUE', place: 'the answer of tierOf', given: show(answer), problem });
    return [];
  }
  const { entries } = readBookObject({ tier: { answered: answer } }, faults);
  return entries.map(({ key, value }: { key: EntryKey; value: unknown }) => ({
    api: key.api,
    source: value,
  }));
}
