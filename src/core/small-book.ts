import { formatApiName, parseApiName } from './api-name.js';
import type { PlacedPolicy } from './counter-plan.js';

/** The entries that one user, one tier or everybody has: by api, and one for all other apis. */
export class PlacedBook {
  private readonly apis = new Map<string, PlacedPolicy>();
  private rest: PlacedPolicy | undefined;

  /** For every api that has no entry of its own. */
  get default(): PlacedPolicy | undefined {
    return this.rest;
  }

  /** @param api in any spelling; undefined for the default */
  set(api: string | undefined, placed: PlacedPolicy): void {
    if (api === undefined) this.rest = placed;
    else this.apis.set(formatApiName(parseApiName(api)), placed);
  }

  /**
   * The entry of the api itself.
   *
   * @param keys as `apiKeys` gives them
   */
  api(keys: readonly string[]): PlacedPolicy | undefined {
    for (const key of keys) {
      const found = this.apis.get(key);
      if (found) return found;
    }
    return undefined;
  }

  /** The entry of the api, else the default. */
  lookUp(keys: readonly string[]): PlacedPolicy | undefined {
    return this.api(keys) ?? this.rest;
  }
}

/** The names by which an api is looked up, in this order: `METHOD /path`, then the path. */
export function apiKeys(api: string): readonly string[] {
  const { method, name } = parseApiName(api);
  return method === undefined ? [name] : [formatApiName({ method, name }), name];
}
