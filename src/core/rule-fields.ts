import type { Dimension } from './dimension.js';

/** The algorithms, by the names that rule text and objects use. */
export type AlgorithmName =
  | 'token-bucket'
  | 'fixed-window'
  | 'sliding-window'
  | 'sliding-window-counter';

/** Which outcomes stay counted: all, only failed ones (4xx), only successful ones (below 400). */
export type CountMode = 'all' | 'failures' | 'successes';

/** Whether a refusal refuses, or is only reported. */
export type RuleMode = 'enforce' | 'shadow';

/** What a rule does while its store is out of reach. */
export type StoreErrorPolicy = 'allow' | 'deny' | 'local';

/**
 * A rule as an object, with the fields of rule text.
 *
 * Numbers may arrive as text, as from an environment variable: they are converted or refused.
 */
export interface RuleObject {
  /** Default `token-bucket`. */
  readonly algorithm?: AlgorithmName | 'sliding-window-log';
  /** How many per window: a positive whole number. */
  readonly limit: number | string;
  /** Text with a unit (`'250ms'`, `'10s'`, `'5m'`, `'1h'`, `'1d'`), or a number of seconds. */
  readonly window?: string | number;
  /** The window in whole milliseconds; instead of `window`. */
  readonly windowMillis?: number | string;
  /** Token bucket: how many at once. A positive whole number; by default the limit. */
  readonly burst?: number | string;
  /** What the counter counts by: dimensions joined with `+`, or a list. Default `user+api`. */
  readonly by?: string | readonly string[];
  /** A name of the rule's own (`[a-z0-9-]+`): shown in headers, and its counters' identity. */
  readonly name?: string;
  readonly count?: CountMode;
  readonly mode?: RuleMode;
  readonly onStoreError?: StoreErrorPolicy;
  /** A wait up to this long is served by waiting: text with a unit, or a number of seconds. */
  readonly wait?: string | number;
  /** The operator's last word: beats decorators. */
  readonly final?: boolean | 'true' | 'false';
}

/** What a rule is made of, once read: whole numbers, times in milliseconds. */
export interface RuleParts {
  readonly algorithm: AlgorithmName;
  readonly limit: number;
  readonly windowMillis: number;
  readonly burst?: number | undefined;
  readonly by?: readonly Dimension[] | undefined;
  readonly name?: string | undefined;
  readonly count?: CountMode | undefined;
  readonly mode?: RuleMode | undefined;
  readonly onStoreError?: StoreErrorPolicy | undefined;
  readonly waitMillis?: number | undefined;
  readonly final?: boolean | undefined;
}
