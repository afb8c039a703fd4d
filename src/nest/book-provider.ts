import { readFileSync } from 'node:fs';
import type { Faults } from '../core/fault.js';
import { RuleBook } from '../core/index.js';
import { checkAvailable, type Surroundings } from '../core/rule-availability.js';
import { readBook } from '../core/rule-book-reader.js';
import type { Settings } from './settings.js';

/**
 * The book of the options `rules` and `always`, which are one, and of `rulesFile`, which overrides
 * it entry by entry. Faults are added to `faults`, not thrown: at start-up all are told at once.
 */
export function createBook(
  { always, rules, rulesFile }: Pick<Settings, 'always' | 'rules' | 'rulesFile'>,
  faults: Faults,
): RuleBook {
  const given = [rules, always === undefined ? undefined : { always }];
  const inFile = rulesFile === undefined ? [] : [readFile(rulesFile, faults)];
  return new RuleBook(readBook([given.filter((one) => one !== undefined), inFile], faults));
}

/** What a book asks for that is not there; also of one that stands in for the module's. */
export function checkBook(book: RuleBook, surroundings: Surroundings, faults: Faults): void {
  for (const { key, policy, place } of book.entries) {
    checkAvailable(policy, place, surroundings, faults);
    if (key.section === 'tier') {
      const problem = 'tiers are not available in this version';
      faults.add({ code: 'RULE_NOT_AVAILABLE', place, given: policy.toString(), problem });
    }
  }
  if (book.mode === 'shadow') {
    const problem = 'mode = shadow is not available in this version';
    faults.add({ code: 'RULE_NOT_AVAILABLE', place: 'rules', given: 'mode = shadow', problem });
  }
}

function readFile(path: string, faults: Faults): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const problem = `the file cannot be read: ${(error as Error).message}`;
    faults.add({ code: 'BOOK_FILE', place: 'option rulesFile', given: path, problem });
    return '';
  }
}
