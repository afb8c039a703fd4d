import type { Dimension } from './dimension.js';
import { formatDuration } from './duration.js';
import { Faults } from './fault.js';
import type {
  AlgorithmName,
  CountMode,
  RuleMode,
  RuleObject,
  RuleParts,
  StoreErrorPolicy,
} from './rule-fields.js';
import { readRuleObject } from './rule-object.js';
import { readRuleText } from './rule-text.js';
import type { CheckedRule } from './rule-types.js';

const BY_DEFAULT: readonly Dimension[] = ['user', 'api'];

/**
 * One algorithm with its numbers: `token-bucket,5,10`. Immutable.
 *
 * The grammar: `algorithm,limit,window[,option=value]…`, spaces around parts allowed.
 */
export class Rule {
  readonly algorithm: AlgorithmName;
  /** How many per window. */
  readonly limit: number;
  readonly windowMillis: number;
  /** Token bucket: how many at once; undefined for the other algorithms. */
  readonly burst: number | undefined;
  /** The dimensions the counter counts by. */
  readonly by: readonly Dimension[];
  readonly name: string | undefined;
  readonly count: CountMode;
  readonly mode: RuleMode;
  /** Undefined: the default of the store. */
  readonly onStoreError: StoreErrorPolicy | undefined;
  /** Longest wait that is served by waiting; 0: none. */
  readonly waitMillis: number;
  readonly final: boolean;

  /** Parts that were read and checked: see `parse` and `of`. */
  constructor(parts: RuleParts) {
    this.algorithm = parts.algorithm;
    this.limit = parts.limit;
    this.windowMillis = parts.windowMillis;
    this.burst = parts.burst;
    this.by = parts.by ?? BY_DEFAULT;
    this.name = parts.name;
    this.count = parts.count ?? 'all';
    this.mode = parts.mode ?? 'enforce';
    this.onStoreError = parts.onStoreError;
    this.waitMillis = parts.waitMillis ?? 0;
    this.final = parts.final ?? false;
    Object.freeze(this);
  }

  /**
   * Reads one rule.
   *
   * @throws RateLimitConfigError with every fault of the text
   */
  static parse<const T extends string>(text: T & CheckedRule<T>): Rule {
    return readOrThrow((faults) => readRuleText(text, 'a rule', faults));
  }

  /**
   * Makes a rule of its object form.
   *
   * @throws RateLimitConfigError with every fault of the object
   */
  static of(object: RuleObject): Rule {
    return readOrThrow((faults) => readRuleObject(object, 'a rule', faults));
  }

  /** Rule text that parses to an equal rule: options at their default are left out. */
  toString(): string {
    const options = {
      burst: this.burst === this.limit ? undefined : this.burst,
      by: this.by.join('+') === BY_DEFAULT.join('+') ? undefined : this.by.join('+'),
      name: this.name,
      count: this.count === 'all' ? undefined : this.count,
      mode: this.mode === 'enforce' ? undefined : this.mode,
      onStoreError: this.onStoreError,
      wait: this.waitMillis === 0 ? undefined : formatDuration(this.waitMillis),
      final: this.final ? 'true' : undefined,
    };
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    const numbers = `${this.algorithm},${this.limit},${formatDuration(this.windowMillis)}`;
    return [numbers, ...given.map(([key, value]) => `${key}=${value}`)].join(',');
  }
}

function readOrThrow(read: (faults: Faults) => RuleParts | undefined): Rule {
  const faults = new Faults();
  const parts = read(faults);
  faults.throwIfAny();
  return new Rule(parts!);
}
