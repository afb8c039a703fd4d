import type { ExecutionContext } from '@nestjs/common';
import type { Decision, MaybePromise } from '../../core/index.js';
import type { AttemptHolder } from '../attempt.js';
import type { Outlay } from '../outlay.js';
import type { Leaving } from '../waiting.js';

/**
 * Whom a framework believes that tells an address: nobody, some, or every proxy there may be; and
 * `never` where it cannot be told to.
 */
export type ProxyTrust = 'none' | 'some' | 'all' | 'never';

/**
 * What comes in, by whatever transport: a request, the call of a resolver, a message. One class for
 * each, and the only places that know how requests, sockets and messages look.
 */
export interface Call {
  readonly context: ExecutionContext;
  /**
   * Who brought it, as the option `user` is handed: the HTTP request, also of GraphQL; the socket;
   * the message's context.
   */
  // biome-ignore lint/suspicious/noExplicitAny: of frameworks that are not imported here
  readonly request: any;
  /** What is one attempt's and no other's, for the guard and the second door alike. */
  readonly holder: AttemptHolder;
  /** The same of this call alone, where an attempt may be several; else it is `holder`. */
  readonly ownHolder: AttemptHolder;
  /** The HTTP method; undefined where there is none. */
  method(): string | undefined;
  /**
   * What is asked for, as the framework spells it: the template that the router matched,
   * `Query.orders`. Asked only where a handler serves more than one.
   */
  template(): string | undefined;
  /** The authenticated principal, where the usual guards leave it. */
  principal(): unknown;
  /** The client's address, as the framework tells it. */
  address(): unknown;
  /** Whether the client is gone already, so that its address may not be told any more. */
  isGone(): boolean;
  /** Whether a proxy says that it brings this for another; then, whom the framework believes. */
  forwarded(): ProxyTrust | undefined;
  /** Watches whether the caller goes before it is answered. */
  leaving(): Leaving;
  /** Looks how it ends, also when guards throw; false where only an interceptor can see it. */
  watch(outlay: Outlay): boolean;
  /**
   * Tells the decision, as far as the transport has a place for it.
   *
   * @throws the refusal in the transport's own form, or rejects with it
   */
  tell(decision: Decision): MaybePromise<true>;
  /** Takes back what was told of an earlier decision: another one counts. */
  untell(decision: Decision): void;
}
