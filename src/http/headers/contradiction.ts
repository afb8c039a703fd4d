import { joinDecisions, type RuleDecision } from '../../core/decision.js';
import type { HeaderDialect } from './dialect.js';

/** Two dialects that would write different values under one name. */
export interface Contradiction {
  readonly header: string;
  readonly dialects: readonly [string, string];
}

const rule: RuleDecision = {
  name: 'a',
  allowed: true,
  limit: 9,
  windowMillis: 9000,
  remaining: 8,
  retryAfterMillis: 0,
  resetAfterMillis: 7000,
  moreAfterMillis: 3000,
};
/** No two of its numbers are equal, so that none passes for another. */
const SAMPLE = joinDecisions([
  rule,
  { ...rule, name: 'b', limit: 6, remaining: 5, resetAfterMillis: 4000, moreAfterMillis: 2000 },
]);

/**
 * The first header on which two of the dialects contradict each other: a header stands once in an
 * answer, so one of them would not be told. Those that write the same under a name get on.
 */
export function contradiction(
  dialects: Readonly<Record<string, HeaderDialect>>,
): Contradiction | undefined {
  const written = new Map<string, readonly [dialect: string, value: string]>();
  for (const [name, dialect] of Object.entries(dialects)) {
    for (const [header, value] of Object.entries(dialect(SAMPLE))) {
      const [earlier, other] = written.get(header) ?? [name, value];
      if (other !== value) return { header, dialects: [earlier, name] };
      written.set(header, [earlier, other]);
    }
  }
  return undefined;
}
