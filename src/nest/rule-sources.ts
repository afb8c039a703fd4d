import { readFileSync } from 'node:fs';
import type { Faults } from '../core/fault.js';
import { RuleBook, type RuleBookSource } from '../core/index.js';
import { readBook } from '../core/rule-book-reader.js';
import type { Settings } from './settings.js';

/** A book as it is handed in. */
export type BookText = RuleBookSource | string;

/**
 * What a book is read from, layer upon layer; a later one overrides the entries of those before.
 * Immutable: a source that changes makes another of it, which is dropped where it is faulty.
 */
export class RuleSources {
  private constructor(
    private readonly layers: readonly (readonly BookText[])[],
    /** The text of the file, which has the last word; undefined where there is none. */
    readonly file: string | undefined,
  ) {}

  /**
   * The options `rules` and `always`, which are one book, and `rulesFile`. A file that cannot be
   * read is added to `faults`.
   */
  static ofOptions(
    { always, rules, rulesFile }: Pick<Settings, 'always' | 'rules' | 'rulesFile'>,
    faults: Faults,
  ): RuleSources {
    const given = [rules, always === undefined ? undefined : { always }];
    const file = rulesFile === undefined ? undefined : readFile(rulesFile.path, faults);
    return new RuleSources([given.filter((one) => one !== undefined)], file);
  }

  /** Other rules in place of the option's. What always joins still does, unless they name it too. */
  withRules(rules: BookText, always: Settings['always']): RuleSources {
    const layers = always === undefined ? [[rules]] : [[{ always }], [rules]];
    return new RuleSources(layers, this.file);
  }

  withFile(file: string): RuleSources {
    return new RuleSources(this.layers, file);
  }

  /** What is faulty is left out, and added to `faults`. */
  read(faults: Faults): RuleBook {
    const inFile = this.file === undefined ? [] : [this.file];
    return new RuleBook(readBook([...this.layers, inFile], faults));
  }
}

/** Whether a text holds no entry and no mode, but comments at most. */
export function saysNothing(text: string): boolean {
  return text.split(/[\r\n]/).every((line) => /^\s*(#|$)/.test(line));
}

function readFile(path: string, faults: Faults): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const problem = `the file cannot be read: ${(error as Error).message}`;
    faults.add({ code: 'BOOK_FILE', place: 'option rulesFile', given: path, problem });
    return undefined;
  }
}
