import type { Asker } from '../core/identity.js';
import type { MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import { addressKey } from '../http/address.js';
import type { Dimensions } from './dimensions.js';
import type { UserId } from './options.js';
import type { PlanNeeds } from './plan-needs.js';
import type { Settings } from './settings.js';
import type { Call } from './transports/call.js';
import type { Warnings } from './warnings.js';

/**
 * Stands for the address of a client who went before it was looked for. Such callers share one
 * counter: with none, who hangs up at once would never be limited, and nobody who waits for an answer
 * is among them.
 */
const GONE = 'gone';

/** Says who asks: the principal's id and the client's address. */
export class RequestIdentity {
  private proxiesLookedAt = false;

  constructor(
    private readonly settings: Pick<Settings, 'user' | 'address' | 'normalizeId' | 'ipv6Prefix'>,
    private readonly dimensions: Dimensions,
    private readonly warnings: Warnings,
  ) {}

  /** The id of the authenticated principal; undefined when there is none. */
  userId(call: Call): MaybePromise<string | undefined> {
    const { user } = this.settings;
    if (!user) return this.idText(this.defaultUser(call));
    return andThen(user(call.request, call.context), (id) => this.idText(id));
  }

  /**
   * Who asks, as far as these rules need it: an address and values of dimensions are looked for only
   * where something counts by them.
   */
  asker(
    call: Call,
    userId: string | undefined,
    api: string,
    { address: addressToo, dimensions: names }: PlanNeeds,
  ): MaybePromise<Asker> {
    if (userId !== undefined && !addressToo) return { userId, address: undefined, api };
    return andThen(this.address(call), (address) => {
      if (names.length === 0) return { userId, address, api };
      const values = this.dimensions.valuesFor(names, call.context);
      return andThen(values, (dimensions) => ({ userId, address, api, dimensions }));
    });
  }

  /** The client's address in canonical form; undefined where the framework knows none. */
  address(call: Call): MaybePromise<string | undefined> {
    const { address } = this.settings;
    if (!address) return this.ownAddress(call);
    return andThen(address(call.context), (text: unknown) => {
      if (typeof text === 'string' && text !== '')
        return addressKey(text, this.settings.ipv6Prefix);
      if (text !== undefined && text !== '') {
        const problem = `The option address answers text, got ${typeof text}: the framework's own address is used`;
        this.warnings.once('address', problem);
      }
      return this.ownAddress(call);
    });
  }

  private ownAddress(call: Call): string | undefined {
    this.lookAtProxies(call);
    const address = call.address();
    if (typeof address === 'string' && address !== '')
      return addressKey(address, this.settings.ipv6Prefix);
    return call.isGone() ? GONE : undefined;
  }

  private defaultUser(call: Call): UserId {
    const user = call.principal();
    if (typeof user !== 'object' || user === null) return user as UserId;
    const { id, sub, userId } = user as { readonly [key: string]: UserId };
    const found = id ?? sub ?? userId;
    if (found === undefined || found === null) {
      this.warnings.once(
        'principal',
        'req.user has no id, sub or userId: such callers are counted by address. Say who they are with the option user: (req) => …',
      );
    }
    return found;
  }

  private idText(id: unknown): string | undefined {
    if (id === undefined || id === null) return undefined;
    const isNumber = typeof id === 'bigint' || (typeof id === 'number' && Number.isFinite(id));
    if (typeof id === 'string' || isNumber) {
      const { normalizeId } = this.settings;
      return normalizeId ? normalizeId(String(id)) : String(id);
    }
    const given = typeof id === 'number' ? String(id) : typeof id;
    const problem = `A user id is text or a number, got ${given}: such callers are counted by address`;
    this.warnings.once('user id', problem);
    return undefined;
  }

  /** Told once each, from what the first requests look like. */
  private lookAtProxies(call: Call): void {
    if (this.proxiesLookedAt) return;
    const trust = call.forwarded();
    if (trust === undefined) return;
    this.proxiesLookedAt = true;
    if (trust === 'none') {
      this.warnings.once(
        'no proxy',
        'Requests come with X-Forwarded-For, but no proxy is trusted: all clients behind a proxy share its address. Set "trust proxy" (Express) or trustProxy (Fastify) to your proxies',
      );
    } else if (trust === 'never') {
      this.warnings.once(
        'sockets',
        'Sockets come with X-Forwarded-For, but no proxy is ever trusted there: all clients behind a proxy share its address. Say the address of a client with the option address',
      );
    } else if (trust === 'all') {
      this.warnings.once(
        'all proxies',
        'Every proxy is trusted, so each client can choose its address with X-Forwarded-For and never meet its limit. Name your proxies in "trust proxy" (Express) or trustProxy (Fastify)',
      );
    }
  }
}
