import { formatApiName, parseApiName } from './api-name.js';
import type { PlacedPolicy } from './counter-plan.js';
import { type Faults, quote, show } from './fault.js';
import { type PolicySource, readPolicy } from './policy.js';
import { checkNames } from './policy-names.js';
import {
  isPolicySource,
  readSmallBook,
  type SmallBook,
  type SmallEntry,
} from './rule-book-object.js';
import { isPolicyName } from './rule-book-reader.js';
import { PlacedBook } from './small-book.js';

/**
 * What a look-up of a user's tier may answer: a tier's name (text without a comma, `&` or `=`),
 * rules in any form, or a small book of them (`{ default, api }`); null or undefined for a user
 * without a tier. Rules are written out in full: a policy of the rule book has no name here.
 */
export type TierAnswer = PolicySource | SmallBook | null | undefined;

/** The tier of a user: its name in the rule book, or rules of its own. */
export type Tier = string | TierRules;

/** Rules that were answered for a user instead of a tier's name. Immutable; equal ones are one. */
export class TierRules {
  /** For looking up. */
  readonly book = new PlacedBook();
  /** The rules as text, for explanations: `token-bucket,5,10s`, `default = …; api./login = …`. */
  readonly text: string;

  /** Entries that were read and checked: see `readTierAnswer`. */
  constructor(readonly entries: readonly TierEntry[]) {
    for (const { api, placed } of entries) this.book.set(api, placed);
    const alone = entries.length === 1 && entries[0]!.api === undefined;
    this.text = alone ? `${entries[0]!.placed.policy}` : entries.map(entryText).join('; ');
  }
}

/** A policy of an answer; the default has no api. */
export interface TierEntry {
  readonly api: string | undefined;
  readonly placed: PlacedPolicy;
}

const PLACE = 'the answer of tierOf';

/** Rules that were read lately. A database may hold any number of them. */
const MAX_KNOWN = 10_000;
const known = new Map<string, TierRules>();

/**
 * Reads what a look-up answered; each fault is added to `faults`. Equal rules are the same object
 * each time, so that what is worked out for them once need not be again.
 *
 * @returns undefined for a user without a tier, for a small book without an entry, and when
 *   anything was wrong
 */
export function readTierAnswer(answer: unknown, faults: Faults): Tier | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer === 'string') return readText(answer, faults);
  if (typeof answer !== 'object') return noTier(answer, faults);
  const entries = isPolicySource(answer)
    ? [{ value: answer }]
    : readSmallBook(answer, PLACE, faults);
  return readEntries(entries, faults);
}

function readText(text: string, faults: Faults): Tier | undefined {
  if (text.trim() === '') return noTier(text, faults);
  if (isPolicyName(text)) return text.trim();
  const key = `text ${text}`;
  const found = known.get(key);
  if (found) return found;
  const rules = readEntries([{ value: text }], faults);
  if (rules) remember(key, rules);
  return rules;
}

function noTier(given: unknown, faults: Faults): undefined {
  const problem =
    'a tier is its name, rules such as token-bucket,5,10, a small book, or undefined for none';
  return faults.add({ code: 'BOOK_VALUE', place: PLACE, given: show(given), problem });
}

function readEntries(raw: readonly SmallEntry[], faults: Faults): TierRules | undefined {
  const before = faults.list.length;
  const entries = new Map<string, TierEntry>();
  for (const entry of raw) {
    const read = readEntry(entry, faults);
    if (!read) continue;
    if (entries.has(read.placed.place)) twice(entry, faults);
    entries.set(read.placed.place, read);
  }
  const sorted = [...entries.keys()].sort().map((place) => entries.get(place)!);
  const told = sorted.map(({ api, placed }) => ({ ...placed, place: answerPlace(api) }));
  checkNames(told, faults);
  return faults.list.length > before || sorted.length === 0 ? undefined : theOne(sorted);
}

function readEntry({ api, value }: SmallEntry, faults: Faults): TierEntry | undefined {
  const policy = readPolicy(value, answerPlace(api), faults);
  const name = api === undefined ? undefined : formatApiName(parseApiName(api));
  const place = name === undefined ? 'tier' : `tier.api.${name}`;
  return policy && { api: name, placed: { policy, place, label: 'tier' } };
}

function twice({ api, value }: SmallEntry, faults: Faults): void {
  const problem = 'it is given twice in one book';
  faults.add({ code: 'BOOK_KEY', place: answerPlace(api), given: show(value), problem });
}

/**
 * The rules that stand for all equal ones. Objects are told apart by what they say, not by which
 * they are: a database answers a new one each time, and a kept one may be changed in between.
 */
function theOne(entries: readonly TierEntry[]): TierRules {
  const key = `read ${JSON.stringify(entries.map(({ api, placed }) => [api, `${placed.policy}`]))}`;
  const found = known.get(key);
  if (found) return found;
  const rules = new TierRules(entries);
  remember(key, rules);
  return rules;
}

function remember(key: string, rules: TierRules): void {
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, rules);
}

/** Where faults of an answer stand. */
export function answerPlace(api: string | undefined): string {
  return api === undefined ? PLACE : `${PLACE}, api ${quote(api)}`;
}

function entryText({ api, placed }: TierEntry): string {
  return `${api === undefined ? 'default' : `api.${api}`} = ${placed.policy}`;
}
