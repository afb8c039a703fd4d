/*
 * GraphQL on Apollo (Express and Fastify) and Mercurius, known by what a resolver is handed:
 *
 *   (parent, args, context, info)   context.req is the HTTP request
 *
 * One request may call many resolvers: by aliases, in a batch, for each item of a list. Each call of
 * a query, a mutation or a subscription is an attempt of its own.
 */
import type { ExecutionContext } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { Decision } from '../../core/index.js';
import type { AttemptHolder } from '../attempt.js';
import { createGraphqlRefusal } from '../exceptions.js';
import { type HttpRequest, type HttpResponse, platformOf } from '../http-platform.js';
import type { Leaving } from '../waiting.js';
import type { Call, ProxyTrust } from './call.js';
import { replyTo } from './fastify-replies.js';
import type { JointAnswer } from './joint-answer.js';
import { leavingOf, neverLeaving } from './leaving.js';

/** Which calls are one attempt: each resolver's, or all that an operation makes of one resolver. */
export type GraphqlCounting = 'resolver' | 'operation';

// biome-ignore lint/suspicious/noExplicitAny: of drivers that are not imported here
type Loose = any;

/**
 * Of each operation a holder for each handler. By its variables, which are made anew each time that
 * one is executed: an application may hand the same context to all.
 */
const ofOperations = new WeakMap<object, Map<object, AttemptHolder>>();

export class GraphqlCall implements Call {
  readonly request: HttpRequest;
  private readonly gqlContext: Loose;
  private readonly info: Loose;
  private readonly response: HttpResponse;

  constructor(
    readonly context: ExecutionContext,
    private readonly answer: JointAnswer,
    private readonly per: GraphqlCounting,
  ) {
    const args = context.getArgs();
    // A reference resolver of a federation has no arguments.
    const at = args.length < 4 ? 1 : 2;
    this.gqlContext = args[at] ?? {};
    this.info = args[at + 1];
    const { req, reply, res, extra, request } = this.gqlContext;
    // Over a socket Apollo's driver has the library's own context in place of a request, and
    // Mercurius has of queries and mutations nothing but the request of the upgrade. With one
    // context for all, its driver leaves the first request in it, beside the reply to this one.
    const connection = req?.extra ?? extra;
    this.request = connection?.request ?? reply?.request ?? req ?? request ?? {};
    const response = res ?? reply ?? this.request.res ?? replyTo(this.request);
    this.response = response && canHaveHeaders(response) ? response : undefined;
  }

  get ownHolder(): AttemptHolder {
    return this.context.getArgs() as AttemptHolder;
  }

  get holder(): AttemptHolder {
    if (this.per === 'resolver') return this.ownHolder;
    const operation: object = this.info?.variableValues ?? this.gqlContext;
    const holders = ofOperations.get(operation) ?? new Map<object, AttemptHolder>();
    ofOperations.set(operation, holders);
    const handler = this.context.getHandler();
    const holder = holders.get(handler) ?? {};
    holders.set(handler, holder);
    return holder;
  }

  method(): undefined {
    return undefined;
  }

  /** As the schema names it, never by the alias. */
  template(): string | undefined {
    const parent = this.info?.parentType?.name;
    return parent === undefined ? undefined : `${parent}.${this.info.fieldName}`;
  }

  /**
   * Where guards leave it, which of a socket's calls write on the library's context as on a request;
   * and what authenticates the connection.
   */
  principal(): unknown {
    const { user, req, extra } = this.gqlContext;
    const connection = req?.extra ?? extra;
    return this.request.user ?? user ?? (connection && req?.user) ?? connection?.user;
  }

  address(): unknown {
    return this.request.ip ?? this.socket()?.remoteAddress;
  }

  isGone(): boolean {
    return this.socket()?.destroyed === true;
  }

  forwarded(): ProxyTrust | undefined {
    if (this.request.headers?.['x-forwarded-for'] === undefined) return undefined;
    if (this.request.ip === undefined) return 'never';
    return this.response ? platformOf(this.response).trust(this.request) : undefined;
  }

  leaving(): Leaving {
    const closing = this.response ? platformOf(this.response).raw(this.response) : this.socket();
    return closing ? leavingOf(closing) : neverLeaving();
  }

  watch(): boolean {
    return false;
  }

  tell(decision: Decision): true {
    if (this.response) this.answer.tell(decision, platformOf(this.response), this.response);
    if (decision.allowed) return true;
    throw createGraphqlRefusal(decision);
  }

  untell(decision: Decision): void {
    if (this.response) this.answer.untell(decision, this.response);
  }

  private socket(): Loose {
    return this.request.socket ?? this.request.raw?.socket;
  }
}

/** Of a subscription over a socket there is nothing to set headers on. */
function canHaveHeaders(response: Loose): boolean {
  return typeof response.setHeader === 'function' || typeof response.header === 'function';
}

/** Metadata keys of Nest's own decorators. */
const TYPE = 'graphql:resolver_type';
const NAME = 'graphql:resolver_name';
const PROPERTY = 'graphql:resolve_property';
const REFERENCE = 'graphql:resolve_reference';

const ROOTS = ['Query', 'Mutation', 'Subscription'];

/** What the decorators of a resolver say; undefined for a method that is none. */
export function resolverOf(
  type: object,
  handler: object,
  methodName: string,
): { readonly api: string | undefined; readonly isField: boolean } | undefined {
  const root: unknown = Reflect.getMetadata(TYPE, handler);
  const name: unknown = Reflect.getMetadata(NAME, handler) ?? methodName;
  if (ROOTS.includes(root as string)) return { api: `${root}.${name}`, isField: false };
  if (Reflect.getMetadata(REFERENCE, handler)) return { api: undefined, isField: true };
  if (!Reflect.getMetadata(PROPERTY, handler)) return undefined;
  const parent: unknown = Reflect.getMetadata(TYPE, type);
  return { api: typeof parent === 'string' ? `${parent}.${name}` : undefined, isField: true };
}

/** The token of the options of Nest's module. */
const OPTIONS = 'GqlModuleOptions';

/**
 * Whether guards run before the resolvers of fields: only where the GraphQL module is told so. True
 * where there is no such module.
 */
export function fieldsAreGuarded(modules: ModulesContainer): boolean {
  const options = [...modules.values()]
    .map(({ providers }) => providers.get(OPTIONS)?.instance as Loose)
    .filter((one) => typeof one === 'object' && one !== null);
  return options.every(({ fieldResolverEnhancers = [] }) =>
    fieldResolverEnhancers.includes('guards'),
  );
}
