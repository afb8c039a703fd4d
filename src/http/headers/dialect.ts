import type { Decision } from '../../core/index.js';

/**
 * A way to tell a decision in response headers: names to values. Values are strings of visible
 * ASCII; each header once. What else a function of the application answers is left out and warned
 * of once; a function that throws tells nothing.
 */
export type HeaderDialect = (decision: Decision) => Readonly<Record<string, string>>;
