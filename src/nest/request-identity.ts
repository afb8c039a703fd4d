import type { ExecutionContext } from '@nestjs/common';
import type { Asker } from '../core/identity.js';
import type { MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';
import { addressKey } from '../http/address.js';
import type { Dimensions } from './dimensions.js';
import type { HttpPlatform, HttpRequest, HttpResponse } from './http-platform.js';
import type { UserId } from './options.js';
import type { PlanNeeds } from './plan-needs.js';
import type { Settings } from './settings.js';
import type { Warnings } from './warnings.js';

/** A request and what it came with. */
export interface RequestParts {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly context: ExecutionContext;
  readonly platform: HttpPlatform;
}

/** Says who asks: the principal's id and the client's address. */
export class RequestIdentity {
  private proxiesLookedAt = false;

  constructor(
    private readonly settings: Pick<Settings, 'user' | 'address' | 'normalizeId' | 'ipv6Prefix'>,
    private readonly dimensions: Dimensions,
    private readonly warnings: Warnings,
  ) {}

  /** The id of the authenticated principal; undefined when there is none. */
  userId(request: HttpRequest, context: ExecutionContext): MaybePromise<string | undefined> {
    const { user } = this.settings;
    if (!user) return this.idText(this.defaultUser(request));
    return andThen(user(request, context), (id) => this.idText(id));
  }

  /**
   * Who asks, as far as these rules need it: an address and values of dimensions are looked for only
   * where something counts by them.
   */
  asker(
    { request, context, platform }: RequestParts,
    userId: string | undefined,
    api: string,
    { address: addressToo, dimensions: names }: PlanNeeds,
  ): MaybePromise<Asker> {
    if (userId !== undefined && !addressToo) return { userId, address: undefined, api };
    return andThen(this.address(request, context, platform), (address) => {
      if (names.length === 0) return { userId, address, api };
      const values = this.dimensions.valuesFor(names, context);
      return andThen(values, (dimensions) => ({ userId, address, api, dimensions }));
    });
  }

  /** The client's address in canonical form; undefined where the framework knows none. */
  address(
    request: HttpRequest,
    context: ExecutionContext,
    platform: HttpPlatform,
  ): MaybePromise<string | undefined> {
    const { address } = this.settings;
    if (!address) return this.ownAddress(request, platform);
    return andThen(address(context), (text: unknown) => {
      if (typeof text === 'string' && text !== '')
        return addressKey(text, this.settings.ipv6Prefix);
      if (text !== undefined && text !== '') {
        const problem = `The option address answers text, got ${typeof text}: the framework's own address is used`;
        this.warnings.once('address', problem);
      }
      return this.ownAddress(request, platform);
    });
  }

  /** The framework's own, which believes proxies as far as it was told to. */
  private ownAddress(request: HttpRequest, platform: HttpPlatform): string | undefined {
    this.lookAtProxies(request, platform);
    const { ip } = request;
    if (typeof ip !== 'string' || ip === '') return undefined;
    return addressKey(ip, this.settings.ipv6Prefix);
  }

  private defaultUser(request: HttpRequest): UserId {
    const user = request.user;
    if (typeof user !== 'object' || user === null) return user;
    const id = user.id ?? user.sub ?? user.userId;
    if (id === undefined || id === null) {
      this.warnings.once(
        'principal',
        'req.user has no id, sub or userId: such callers are counted by address. Say who they are with the option user: (req) => …',
      );
    }
    return id;
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
  private lookAtProxies(request: HttpRequest, platform: HttpPlatform): void {
    if (this.proxiesLookedAt || request.headers?.['x-forwarded-for'] === undefined) return;
    this.proxiesLookedAt = true;
    const trust = platform.trust(request);
    if (trust === 'none') {
      this.warnings.once(
        'no proxy',
        'Requests come with X-Forwarded-For, but no proxy is trusted: all clients behind a proxy share its address. Set "trust proxy" (Express) or trustProxy (Fastify) to your proxies',
      );
    } else if (trust === 'all') {
      this.warnings.once(
        'all proxies',
        'Every proxy is trusted, so each client can choose its address with X-Forwarded-For and never meet its limit. Name your proxies in "trust proxy" (Express) or trustProxy (Fastify)',
      );
    }
  }
}
