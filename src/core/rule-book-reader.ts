import { DEFAULT_ALGORITHM } from './algorithms/index.js';
import type { PlacedPolicy } from './counter-plan.js';
import { type Faults, nearest, show } from './fault.js';
import { Policy, readPolicy } from './policy.js';
import { Rule } from './rule.js';
import { type EntryKey, labelOf, placeOf, placeText, type RawEntry } from './rule-book-entry.js';
import { readBookObject } from './rule-book-object.js';
import { readBookText } from './rule-book-text.js';

/** An entry with its policy. */
export interface BookEntry extends PlacedPolicy {
  readonly key: EntryKey;
}

/** What a rule book is made of. */
export interface BookParts {
  readonly entries: readonly BookEntry[];
  readonly mode?: string | undefined;
}

/** Takes the place of a faulty policy while the rest is read; never decides anything. */
const STAND_IN = new Rule({ algorithm: DEFAULT_ALGORITHM, limit: 1, windowMillis: 1000 });

const MODES = ['enforce', 'shadow', 'off'];
const POLICY_NAME = /^[^,&=]+$/;

/**
 * Reads books into one; a later book overrides the entries of an earlier one. Each is a list of
 * texts or objects that make up one book, in which an entry stands once. What is faulty is left
 * out, and each fault is added to `faults`.
 */
export function readBook(books: readonly (readonly unknown[])[], faults: Faults): BookParts {
  const raw = new Map<string, RawEntry>();
  let mode: unknown;
  for (const book of books) {
    const here = new Set<string>();
    for (const source of book) {
      const read =
        typeof source === 'string' ? readBookText(source, faults) : readBookObject(source, faults);
      mode = read.mode ?? mode;
      for (const entry of read.entries) {
        const place = placeOf(entry.key);
        if (here.has(place)) twice(entry, faults);
        here.add(place);
        raw.set(place, entry);
      }
    }
  }
  if (mode !== undefined && !MODES.includes(mode as string)) {
    const problem = `mode is ${MODES.join(', ')}`;
    const meant = nearest(show(mode), MODES);
    faults.add({ code: 'BOOK_VALUE', place: 'mode', given: show(mode), problem, meant });
  }
  return { entries: readEntries([...raw.values()], faults), mode: mode as string | undefined };
}

function twice({ key, value }: RawEntry, faults: Faults): void {
  const problem = 'it is given twice in one book';
  faults.add({ code: 'BOOK_KEY', place: placeText(key), given: show(value), problem });
}

function readEntries(raw: readonly RawEntry[], faults: Faults): BookEntry[] {
  const policies = new Map<string, BookEntry>();
  const isPolicy = ({ key }: RawEntry) => key.section === 'policy';
  for (const { key, value } of raw.filter(isPolicy)) {
    const policy = checkName(key, faults) && readPolicy(value, placeText(key), faults);
    // A faulty policy is still known by its name, or each use of it would be told as a fault too.
    const kept = policy || new Policy([STAND_IN]);
    policies.set(key.id, { key, policy: kept, place: placeOf(key), label: labelOf(key) });
  }
  const others = raw
    .filter((entry) => !isPolicy(entry))
    .flatMap((entry): BookEntry[] => {
      const read = readEntry(entry, policies, faults);
      return read ? [read] : [];
    });
  return [...policies.values(), ...others];
}

function readEntry(
  { key, value }: RawEntry,
  policies: ReadonlyMap<string, BookEntry>,
  faults: Faults,
): BookEntry | undefined {
  if (typeof value === 'string' && value.trim() !== '' && POLICY_NAME.test(value)) {
    const found = policies.get(value.trim());
    return found
      ? { ...found, key }
      : unknownPolicy(value, placeText(key), policies.keys(), faults);
  }
  const policy = readPolicy(value, placeText(key), faults);
  return policy && { key, policy, place: placeOf(key), label: labelOf(key) };
}

/** The fault of a name that no `policy` entry has. */
export function unknownPolicy(
  given: string,
  place: string,
  known: Iterable<string>,
  faults: Faults,
): undefined {
  const names = [...known];
  const list = names.length > 0 ? `the policies are ${names.join(', ')}` : 'no policy is defined';
  const problem = `no policy has that name, and it is no rule such as token-bucket,5,10; ${list}`;
  return faults.add({
    code: 'POLICY_UNKNOWN',
    place,
    given,
    problem,
    meant: nearest(given, names),
  });
}

/** Whether text names a policy rather than being rule text. */
export function isPolicyName(text: string): boolean {
  return text.trim() !== '' && POLICY_NAME.test(text);
}

function checkName(key: EntryKey, faults: Faults): boolean {
  if (isPolicyName(key.id) && key.id === key.id.trim()) return true;
  const problem = 'a policy name is not empty, has no spaces around it and no comma, & or =';
  faults.add({ code: 'BOOK_KEY', place: 'policy', given: key.id, problem });
  return false;
}
