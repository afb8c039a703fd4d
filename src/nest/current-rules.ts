import { Faults } from '../core/fault.js';
import { RateLimitConfigError, type RuleBook } from '../core/index.js';
import type { RateLimitEvents } from './events.js';
import { changesBetween, type RuleChange } from './rule-changes.js';
import { type BookText, type RuleSources, saysNothing } from './rule-sources.js';
import { RulesInForce, type RulesParts } from './rules-in-force.js';
import type { Settings } from './settings.js';
import type { Warnings } from './warnings.js';

/** The rules in force, and how they are replaced while the application runs. */
export class CurrentRules {
  private current: RulesInForce;
  private onReplaced: (() => void) | undefined;

  constructor(
    book: RuleBook,
    private sources: RuleSources,
    private readonly parts: RulesParts,
    private readonly always: Settings['always'],
    private readonly events: RateLimitEvents,
    private readonly warnings: Warnings,
  ) {
    this.current = new RulesInForce(book, parts);
  }

  /** Hold it for the length of one decision: the next may go by other rules. */
  get now(): RulesInForce {
    return this.current;
  }

  /** Has `look` called each time that other rules are in force. */
  watch(look: () => void): void {
    this.onReplaced = look;
  }

  /**
   * Other rules in place of the option `rules`.
   *
   * @throws RateLimitConfigError with every fault, which is logged too; the old rules stay
   */
  reload(rules: BookText): void {
    const faults = new Faults();
    if (typeof rules === 'string' && saysNothing(rules)) {
      const problem = 'the text holds no rules; to switch limits off, write mode = off';
      faults.add({ code: 'BOOK_VALUE', place: 'rules', given: rules, problem });
    }
    this.replace(this.sources.withRules(rules, this.always), 'The new rules are', faults);
  }

  /**
   * The file changed. Where it is faulty, that is logged, and the old rules stay. One that says
   * nothing any more is faulty too: it would mean no limit, and most likely by mistake.
   */
  fileChanged(text: string, path: string): void {
    const faults = new Faults();
    if (saysNothing(text) && !saysNothing(this.sources.file ?? '')) emptied(path, faults);
    try {
      this.replace(this.sources.withFile(text), `The rules file ${path} is`, faults);
    } catch (error) {
      if (!(error instanceof RateLimitConfigError)) throw error;
    }
  }

  private replace(sources: RuleSources, what: string, faults = new Faults()): void {
    const next = new RulesInForce(sources.read(faults), this.parts);
    next.check(faults);
    try {
      faults.throwIfAny();
    } catch (error) {
      this.warnings.error(`${what} faulty, and the old rules stay: ${(error as Error).message}`);
      this.events.emit({ type: 'reload-refused', error: error as RateLimitConfigError });
      throw error;
    }
    const changes = changesBetween(this.current, next);
    this.sources = sources;
    this.current = next;
    this.tell(changes);
    this.onReplaced?.();
  }

  private tell(changes: readonly RuleChange[]): void {
    const restarted = changes.filter(({ restarts }) => restarts).map(({ place }) => place);
    const lost =
      restarted.length === 0
        ? ''
        : `, counting begins anew at ${restarted.slice(0, 20).join(', ')}`;
    const number = changes.length === 1 ? '1 change' : `${changes.length} changes`;
    this.warnings.log(`Rules reloaded: ${number}${lost}`);
    this.events.emit({ type: 'reloaded', changes });
  }
}

function emptied(path: string, faults: Faults): void {
  const problem =
    'the file holds no rules any more, which would lift the limits in it; to switch limits off, write mode = off';
  faults.add({ code: 'BOOK_FILE', place: 'option rulesFile', given: path, problem });
}
