/*
 * draft-ietf-httpapi-ratelimit-headers-11, structured fields (RFC 9651):
 *
 *   RateLimit-Policy: "default";q=5;w=10
 *   RateLimit: "default";r=4;t=2
 *
 * q is the capacity, w the seconds in which it fills, r what is left, t the seconds until r next
 * grows. All policies of an answer stand in one list. `w` has no fractions: below a second it is
 * left out, since 0 would be untrue.
 */
import type { Decision, Standing } from '../../core/decision.js';
import { secondsUp } from '../seconds.js';
import { structuredString } from '../structured-string.js';

export function ietfHeaders(decision: Decision): Record<string, string> {
  const { rules } = decision;
  if (!rules) {
    const { name, policy } = itemOf(decision.policy, decision);
    return { 'RateLimit-Policy': policy, RateLimit: name + state(decision) };
  }
  let policies = '';
  let limits = '';
  for (const rule of rules) {
    const { name, policy } = itemOf(rule.name, rule);
    const comma = policies === '' ? '' : ', ';
    policies += comma + policy;
    limits += comma + name + state(rule);
  }
  return { 'RateLimit-Policy': policies, RateLimit: limits };
}

function state({ remaining, moreAfterMillis }: Standing): string {
  return `;r=${integer(remaining)};t=${secondsUp(moreAfterMillis)}`;
}

/** Integers of structured fields have at most 15 digits. */
function integer(value: number): number {
  return Math.min(value, 999_999_999_999_999);
}

/** The parts that change with the rule alone, kept since they are most of the work. */
interface Item {
  readonly limit: number;
  readonly windowMillis: number;
  /** The quoted name. */
  readonly name: string;
  readonly policy: string;
}

const MAX_ITEMS = 1000;
const items = new Map<string, Item>();

function itemOf(name: string, { limit, windowMillis }: Standing): Item {
  const known = items.get(name);
  if (known?.limit === limit && known.windowMillis === windowMillis) return known;
  const quoted = structuredString(name);
  const window = windowMillis < 1000 ? '' : `;w=${secondsUp(windowMillis)}`;
  const item = {
    limit,
    windowMillis,
    name: quoted,
    policy: `${quoted};q=${integer(limit)}${window}`,
  };
  if (items.size >= MAX_ITEMS) items.clear();
  items.set(name, item);
  return item;
}
