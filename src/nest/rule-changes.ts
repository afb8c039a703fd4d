import { type PlacedPolicy, planCounters } from '../core/counter-plan.js';
import { placeOf } from '../core/rule-book-entry.js';
import type { RulesInForce } from './rules-in-force.js';

/** What a reload changed at one place of the book. */
export interface RuleChange {
  /** `default`, `api:/login`, `user:vip-1`, `policy:search`, `always:flood`, `mode`, … */
  readonly place: string;
  /** Rule text; undefined where nothing stood there. */
  readonly before: string | undefined;
  /** Rule text; undefined where nothing stands there any more. */
  readonly after: string | undefined;
  /**
   * Whether counting begins anew, since the algorithm, the window or what is counted by is another.
   * Where only limits changed, counters go on.
   */
  readonly restarts: boolean;
}

/** What differs between the books of two rules in force. */
export function changesBetween(before: RulesInForce, after: RulesInForce): RuleChange[] {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const changes: RuleChange[] = [];
  for (const place of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(place), now.get(place)];
    if (was && is && was.place === is.place && text(was) === text(is)) continue;
    const restarts = was !== undefined && is !== undefined && isReplaced(was, is);
    changes.push({ place, before: was && text(was), after: is && text(is), restarts });
  }
  if (before.mode !== after.mode) {
    changes.push({ place: 'mode', before: before.mode, after: after.mode, restarts: false });
  }
  return changes;
}

/** By the entry's own place: one that names a policy counts at the policy's. */
function entriesOf({ book }: RulesInForce): Map<string, PlacedPolicy> {
  return new Map(book.entries.map((entry) => [placeOf(entry.key), entry]));
}

function text({ policy }: PlacedPolicy): string {
  return policy.toString();
}

/** Whether another counter took the place of one. One more rule, or one less, restarts nothing. */
function isReplaced(before: PlacedPolicy, after: PlacedPolicy): boolean {
  return hasOther(before, after) && hasOther(after, before);
}

function hasOther(policy: PlacedPolicy, than: PlacedPolicy): boolean {
  const ids = new Set(planCounters(than).map(({ id }) => id));
  return planCounters(policy).some(({ id }) => !ids.has(id));
}
