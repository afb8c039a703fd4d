import { formatApiName, parseApiName } from './api-name.js';
import type { PlacedPolicy } from './counter-plan.js';

/** The rules of one user or tier, or of everybody: one for everything, and others by api. */
export class SmallBookOfPolicies {
  private rest: PlacedPolicy | undefined;
  private readonly apis = new Map<string, PlacedPolicy>();

  /** @param api undefined: for every api that has no entry of its own */
  add(placed: PlacedPolicy, api?: string): void {
    if (api === undefined) this.rest = placed;
    else this.apis.set(formatApiName(parseApiName(api)), placed);
  }

  get default(): PlacedPolicy | undefined {
    return this.rest;
  }

  /** @param keys the spellings of an api, the nearest first */
  ofApi(keys: readonly string[]): PlacedPolicy | undefined {
    for (const key of keys) {
      const found = this.apis.get(key);
      if (found) return found;
    }
    return undefined;
  }

  lookUp(keys: readonly string[]): PlacedPolicy | undefined {
    return this.ofApi(keys) ?? this.rest;
  }
}
