import { type Algorithm, createAlgorithm } from './algorithms/index.js';
import type { Dimension } from './dimension.js';
import { type Asker, dimensionValue, encodeParts, isKnown } from './identity.js';
import { KeyedHash } from './keyed-hash.js';
import type { Policy } from './policy.js';
import type { Rule } from './rule.js';

/** A policy and where it was written. */
export interface PlacedPolicy {
  readonly policy: Policy;
  /** `default`, `api:/login`, `user:vip-1`, `policy:search`, `OrdersModule/Orders.create`, … */
  readonly place: string;
  /** The name shown in decisions and headers. */
  readonly label: string;
  /**
   * Whether the place itself says which api is meant, so that all paths of one handler share a
   * counter.
   */
  readonly placeIsApi?: boolean;
  /** The wider place of rules that do not count by api: a class, for all its handlers. */
  readonly sharedPlace?: string;
}

/**
 * One rule at its place, ready to count. All counters with the same `id` and the same values are
 * one, in every instance and after a restart. The limit is not part of the id: when it changes,
 * the counters stay.
 */
export interface CounterPlan {
  readonly id: string;
  /** The id in 64 bits, for stores that hash: mixed into the hash of the values. */
  readonly seedLo: number;
  readonly seedHi: number;
  readonly label: string;
  /** Where the rule was written. */
  readonly place: string;
  readonly rule: Rule;
  readonly algorithm: Algorithm;
  readonly by: readonly Dimension[];
  readonly placeIsApi: boolean;
  /** Where a store notes what it knows of this plan, so that it need not look it up. */
  readonly note: PlanNote;
}

/** A store's note on a plan; the last store that wrote one owns it. */
export interface PlanNote {
  owner: unknown;
  content: unknown;
}

/** One counter: a plan and the values it counts by. */
export interface Counter {
  readonly plan: CounterPlan;
  readonly values: readonly string[];
}

const planned = new WeakMap<Policy, Map<string, readonly CounterPlan[]>>();

/** The plans of a policy's rules at its place; made once. */
export function planCounters(placed: PlacedPolicy): readonly CounterPlan[] {
  let places = planned.get(placed.policy);
  if (!places) {
    places = new Map();
    planned.set(placed.policy, places);
  }
  let plans = places.get(placed.place);
  if (!plans) {
    plans = makePlans(placed);
    places.set(placed.place, plans);
  }
  return plans;
}

function makePlans(placed: PlacedPolicy): CounterPlan[] {
  const { policy, label, placeIsApi = false } = placed;
  const seen = new Map<string, number>();
  return policy.rules.map((rule, i) => {
    const origin = originOf(rule, placed);
    const kind = encodeParts([origin, rule.algorithm, String(rule.windowMillis), ...rule.by]);
    const ordinal = seen.get(kind) ?? 0;
    seen.set(kind, ordinal + 1);
    const id = encodeParts([kind, String(ordinal)]);
    return {
      id,
      ...seedOf(id),
      label: rule.name ?? (i === 0 ? label : `${label}-${i + 1}`),
      place: placed.place,
      rule,
      algorithm: createAlgorithm(rule.algorithm, rule),
      by: rule.by,
      placeIsApi: placeIsApi && rule.name === undefined,
      note: { owner: undefined, content: undefined },
    };
  });
}

/** The same in every process, so that those that share a table agree. */
const seeds = new KeyedHash(0, 0);

function seedOf(id: string): { seedLo: number; seedHi: number } {
  seeds.one(0, 0, id);
  return { seedLo: seeds.lo, seedHi: seeds.hi };
}

function originOf(rule: Rule, { place, sharedPlace }: PlacedPolicy): string {
  if (rule.name !== undefined) return `name:${rule.name}`;
  return rule.by.includes('api') ? place : (sharedPlace ?? place);
}

/**
 * The counter of a plan for this asker.
 *
 * @returns undefined when a dimension has no value and there is no address either
 */
export function counterOf(plan: CounterPlan, asker: Asker): Counter | undefined {
  const values: string[] = [];
  for (const dimension of plan.by) {
    if (dimension === 'api' && plan.placeIsApi) continue;
    const value = dimensionValue(dimension, asker);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return { plan, values };
}

/** Whether an address stands in for what is not known of this asker. */
export function isStandIn({ by, placeIsApi }: CounterPlan, asker: Asker): boolean {
  return by.some((dimension) => !(dimension === 'api' && placeIsApi) && !isKnown(dimension, asker));
}
