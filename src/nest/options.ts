import type { ExecutionContext, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { MaybePromise, RateLimitStore, RuleBookSource } from '../core/index.js';
import type { CheckedOptions } from '../core/rule-types.js';
import type { DimensionOption } from './dimension-options.js';
import type { OneDialect } from './header-options.js';
import type { RateLimitGuard } from './rate-limit.guard.js';
import type { RefusalOption } from './refusal-bodies.js';
import type { TierOf, TierResolver } from './tier-resolver.js';

/** An id as applications keep it; nothing is nobody. */
export type UserId = string | number | bigint | null | undefined;

/** The options of the module. */
export interface RateLimitOptions {
  /** The rule book, as an object or in properties text. */
  readonly rules?: RuleBookSource | string;
  /**
   * Path of a book in properties text; overrides `rules` entry by entry. With `pollMillis` it is
   * looked at again and again, and what changed is in force at once; a faulty book is not taken.
   */
  readonly rulesFile?: string | RulesFileOption;
  /** Policies that join whatever rule wins, and apply where none does. */
  readonly always?: RuleBookSource['always'];
  /**
   * Who asks. By default `req.user` as text or number, then its `id`, `sub`, `userId`; nobody is
   * counted by the client's address.
   */
  // biome-ignore lint/suspicious/noExplicitAny: what a request is depends on the platform
  readonly user?: (req: any, ctx: ExecutionContext) => MaybePromise<UserId>;
  /** The client's address, where the framework's own is not right; undefined where it is. */
  readonly address?: (ctx: ExecutionContext) => MaybePromise<string | undefined>;
  /**
   * What counters may tell apart beside user, api, ip and global: `by=tenant`. A value that is
   * missing falls back to the client's address.
   */
  readonly dimensions?: Readonly<Record<string, DimensionOption>>;
  /**
   * The key with which the values of `secret` dimensions are hashed: text of 16 characters or more,
   * the same in every instance. Only the memory store does without.
   */
  readonly secretKey?: string;
  /**
   * The tier of a user, or rules of his own: a function, a `TierResolver`, or the class of one that
   * the application provides.
   */
  readonly tierOf?: TierOf | TierResolver | Type<TierResolver>;
  /** How long an answer of `tierOf` is used, in milliseconds. Default 30,000; 0: once a request. */
  readonly tierCacheMillis?: number;
  /** How long a request waits for `tierOf`, in milliseconds, 1 or more. Default 1000. */
  readonly tierTimeoutMillis?: number;
  /** One spelling for ids that mean the same, such as lower case. */
  readonly normalizeId?: (id: string) => string;
  /** Requests that are let through uncounted: probes, internal callers. */
  readonly skip?: (ctx: ExecutionContext) => MaybePromise<boolean>;
  /**
   * `shadow` decides and counts, tells what it would refuse, and lets it in; `off` limits nothing.
   * Default `enforce`. A book's own `mode` comes first.
   */
  readonly mode?: 'enforce' | 'shadow' | 'off';
  /** From which part of a limit on an event tells that a caller is near it: 0.8 of it, say. */
  readonly warnAt?: number;
  /**
   * How decisions are told in headers: `ietf` (draft 11 of the RateLimit header fields), an older
   * draft, `legacy` (X-RateLimit-…), a function of the decision, several, or none. Of several that
   * write one header, a function among them, the last is told; dialects by name that contradict each
   * other there are a fault. Default `ietf`.
   */
  readonly headers?: HeadersOption;
  /** What counts as one call over GraphQL. */
  readonly graphql?: GraphqlOptions;
  /**
   * Has pages of other origins read these headers and `Retry-After`: their names join those in
   * `Access-Control-Expose-Headers`. Default false.
   */
  readonly exposeHeaders?: boolean;
  /**
   * The body of a refusal over HTTP: `json`; `problem` for `application/problem+json` (RFC 9457); or
   * a function of the decision, which answers an object, sent as JSON, or text, the message of
   * Nest's usual body. Where the function throws or answers something else, the body is that of
   * `json`, with one warning. Default `json`.
   */
  readonly refusal?: RefusalOption;
  /** Where counters live. By default in this process. */
  readonly store?: RateLimitStore;
  /** Bits of an IPv6 address that make one client, 1 … 128. Default 56. */
  readonly ipv6Prefix?: number;
  /** How many wait at most, for a service's `acquire` or a rule's `wait`. Default 10,000. */
  readonly maxWaiters?: number;
  /** The largest limit of an exact log. Default 1000. */
  readonly maxLogLimit?: number;
  /**
   * `auto`: in the guard, and where other guards come after it that tell who asks, by user once they
   * have passed; until then by address. `guard`: always in the guard. Default `auto`.
   */
  readonly stage?: 'auto' | 'guard';
  /**
   * Where the guard stands among the global guards: before all others, or where its module stands
   * among the modules. Default `first`.
   */
  readonly order?: 'first' | 'registered';
}

/** How GraphQL is counted. */
export interface GraphqlOptions {
  /**
   * `resolver`: each call of a query, a mutation or a subscription, so that aliases and batches are
   * as many as they call. `operation`: all that one operation calls of one resolver once, but for
   * calls whose cost is a function or is settled, and under rules that count failures or successes.
   * Default `resolver`.
   */
  readonly per?: 'resolver' | 'operation';
}

/** A rules file that is looked at again and again. */
export interface RulesFileOption {
  readonly path: string;
  /** A whole number of milliseconds, 100 or more; left out: the file is read once. */
  readonly pollMillis?: number;
}

/** A dialect by name, a function of your own, several, or none. */
export type HeadersOption = OneDialect | readonly OneDialect[] | false;

/** What stands beside the options, since it settles which providers there are. */
export interface RateLimitExtras {
  /** A subclass of the guard in its place; `false`: only what is decorated is guarded. */
  readonly guard?: Type<RateLimitGuard> | false;
}

/** For `forRootAsync({ useClass })`. */
export interface RateLimitOptionsFactory {
  createRateLimitOptions(): RateLimitOptions | Promise<RateLimitOptions>;
}

/** What `forRoot` takes. */
export type AnyOptions = RateLimitOptions & RateLimitExtras;
/** With the literals of its rules checked. */
export type Checked<O> = O & CheckedOptions<O, AnyOptions>;

/** How `forRootAsync` gets its options. */
export interface RateLimitAsyncOptions<O extends RateLimitOptions = RateLimitOptions>
  extends Pick<ModuleMetadata, 'imports'>,
    RateLimitExtras {
  readonly inject?: FactoryProvider['inject'];
  // biome-ignore lint/suspicious/noExplicitAny: what is injected is up to `inject`
  readonly useFactory?: (...args: any[]) => Checked<O> | Promise<Checked<O>>;
  readonly useClass?: Type<RateLimitOptionsFactory>;
  readonly useExisting?: Type<RateLimitOptionsFactory>;
}
