import type { Standing } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';
import { structuredString } from '../structured-string.js';

/** Integers of structured fields have at most 15 digits. */
export function integer(value: number): number {
  return Math.min(value, 999_999_999_999_999);
}

/** The parts that change with the rule alone, kept since they are most of the work. */
interface Item {
  readonly limit: number;
  readonly windowMillis: number;
  /** The quoted name. */
  readonly name: string;
  /** `"default";q=5;w=10` */
  readonly policy: string;
}

const MAX_ITEMS = 1000;
const items = new Map<string, Item>();

/** How a rule is written in the drafts whose items bear names. */
export function itemOf(name: string, { limit, windowMillis }: Standing): Item {
  const known = items.get(name);
  if (known?.limit === limit && known.windowMillis === windowMillis) return known;
  const quoted = structuredString(name);
  const item = {
    limit,
    windowMillis,
    name: quoted,
    policy: `${quoted};q=${integer(limit)}${windowOf(windowMillis)}`,
  };
  if (items.size >= MAX_ITEMS) items.clear();
  items.set(name, item);
  return item;
}

/** `;w=10`. It has no fractions: below a second it is left out, since 0 would be untrue. */
export function windowOf(windowMillis: number): string {
  return windowMillis < 1000 ? '' : `;w=${secondsUp(windowMillis)}`;
}
