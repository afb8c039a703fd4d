import type { Decision } from '../../core/index.js';

/**
 * A way to tell a decision in response headers: names to values. Values are strings of visible
 * ASCII; each header once.
 */
export type HeaderDialect = (decision: Decision) => Readonly<Record<string, string>>;
