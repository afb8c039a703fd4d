import { type Faults, nearest, show } from './fault.js';
import type { PolicySource } from './policy.js';
import { placeText, type RawEntry, SECTIONS, type Section } from './rule-book-entry.js';

/** What one user or tier gets: a rule for everything, or a small book. */
export interface SmallBook {
  readonly default?: PolicySource;
  readonly api?: Readonly<Record<string, PolicySource>>;
}

/** A rule book as an object. */
export interface RuleBookSource {
  /** For every api that no other entry names. */
  readonly default?: PolicySource;
  /** By `METHOD /path`, path template or name. */
  readonly api?: Readonly<Record<string, PolicySource>>;
  /** By user id. */
  readonly user?: Readonly<Record<string, PolicySource | SmallBook>>;
  /** By tier. */
  readonly tier?: Readonly<Record<string, PolicySource | SmallBook>>;
  /** Named policies, for `@RateLimit('name')` and other entries. */
  readonly policy?: Readonly<Record<string, PolicySource>>;
  /** Joins whatever rule wins, and applies where none does; one, or several by name. */
  readonly always?: PolicySource | Readonly<Record<string, PolicySource>>;
  readonly mode?: 'enforce' | 'shadow' | 'off';
}

/** Reads a book from its object form into the same entries as from text. */
export function readBookObject(
  source: unknown,
  faults: Faults,
): { entries: RawEntry[]; mode?: unknown } {
  const book = record(source, 'rules', faults);
  const entries: RawEntry[] = [];
  for (const [section, value] of Object.entries(book)) {
    if (value === undefined || section === 'mode') continue;
    if (!SECTIONS.includes(section as Section)) {
      const known = [...SECTIONS, 'mode'];
      const problem = `a rule book has ${known.join(', ')}`;
      const meant = nearest(section, known);
      faults.add({ code: 'BOOK_KEY', place: 'rules', given: section, problem, meant });
    } else entries.push(...readSection(section as Section, value, faults));
  }
  return { entries, mode: book['mode'] };
}

function readSection(section: Section, value: unknown, faults: Faults): RawEntry[] {
  if (section === 'default') return [{ key: { section, id: '' }, value }];
  if (section === 'always' && isPolicySource(value)) return [{ key: { section, id: '' }, value }];
  return Object.entries(record(value, `rules.${section}`, faults)).flatMap(
    ([id, entry]): RawEntry[] => {
      if (entry === undefined) return [];
      const small = (section === 'user' || section === 'tier') && !isPolicySource(entry);
      if (!small) return [{ key: { section, id }, value: entry }];
      const entries = readSmallBook(entry, placeText({ section, id }), faults);
      return entries.map(({ api, value }) => ({ key: { section, id, api }, value }));
    },
  );
}

/** An entry of a small book as written; its default has no api. */
export interface SmallEntry {
  readonly api?: string;
  readonly value: unknown;
}

/** Reads what is no policy as a small book; a rule with a misspelt field ends up here as well. */
export function readSmallBook(value: unknown, place: string, faults: Faults): SmallEntry[] {
  const book = record(value, place, faults);
  const entries: SmallEntry[] = [];
  for (const [name, entry] of Object.entries(book)) {
    if (name === 'default') entries.push({ value: entry });
    else if (name === 'api') {
      const apis = entry === undefined ? {} : record(entry, `${place}, api`, faults);
      for (const [api, rule] of Object.entries(apis)) entries.push({ api, value: rule });
    } else {
      const problem = 'a small book has default and api; a rule has limit and window';
      const meant = nearest(name, ['default', 'api', 'limit', 'window']);
      faults.add({ code: 'BOOK_KEY', place, given: name, problem, meant });
    }
  }
  return entries.filter((entry) => entry.value !== undefined);
}

/** Text, a list, a rule, or an object that has something of a rule rather than of a small book. */
export function isPolicySource(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return ['limit', 'window', 'windowMillis', 'algorithm', 'rules'].some((field) => {
    const entry = (value as Record<string, unknown>)[field];
    return entry !== undefined && Object.hasOwn(value, field) && !isRecord(entry);
  });
}

/** Maps, sets and the like have no entries to read, and would pass for an empty book. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function record(value: unknown, place: string, faults: Faults): Record<string, unknown> {
  if (isRecord(value)) return value;
  const problem = 'expected an object with an entry for each name';
  faults.add({ code: 'BOOK_VALUE', place, given: show(value), problem });
  return {};
}
