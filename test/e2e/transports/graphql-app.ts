/* Applications with GraphQL on each server that Nest has a driver for, and real clients of them. */
import { ApolloDriver } from '@nestjs/apollo';
import type { Provider, Type } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { type Client, createClient } from 'graphql-ws';
import type { Fault, RateLimitOptions } from 'nestjs-doorman';
import { WebSocket } from 'ws';
import { type AppParts, faultsOf, type Running, start, userOf } from '../support.js';

export const SERVERS = ['Apollo on Express', 'Apollo on Fastify', 'Mercurius'] as const;
export type ServerName = (typeof SERVERS)[number];

// biome-ignore lint/suspicious/noExplicitAny: answers and options of two drivers
type Loose = any;

export interface GraphqlParts {
  readonly limits: RateLimitOptions;
  readonly resolvers: readonly Type[];
  readonly providers?: readonly Provider[];
  /** What runs before the resolvers of fields; by default nothing. */
  readonly fields?: readonly ('guards' | 'interceptors' | 'filters')[];
  /** Says who connects, from what a client of a socket sends first. */
  readonly onConnect?: (connectionParams: Loose) => Loose;
  /** Further options of the driver. */
  readonly driver?: Loose;
}

/** An error as the client reads it. */
export interface AnsweredError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** What came back over HTTP. */
export interface GraphqlAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly body: Loose;
  readonly data: Loose;
  /** Empty where there are none. */
  readonly errors: readonly AnsweredError[];
}

/** What came back over a socket, until it was complete or failed. */
export interface Received {
  readonly data: readonly Loose[];
  readonly errors: readonly AnsweredError[];
}

export interface GraphqlApp extends Running {
  readonly url: string;
  /** One operation, by POST. */
  ask(query: string, more?: Ask): Promise<GraphqlAnswer>;
  /** One operation, by GET. */
  get(query: string, more?: Ask): Promise<GraphqlAnswer>;
  /** Any body, by POST: several operations in a list, say. */
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<GraphqlAnswer>;
  /** A client over a socket; it is closed after the test. */
  connect(connectionParams?: Readonly<Record<string, unknown>>): SocketClient;
}

export interface Ask {
  readonly user?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SocketClient {
  /** Any operation; resolves when it is complete or has failed. */
  receive(query: string, variables?: Readonly<Record<string, unknown>>): Promise<Received>;
  /** Is gone at once, as when a network is. */
  terminate(): void;
}

const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});

/** What each driver spells its own way. */
function driverOptions(server: ServerName, { fields, onConnect, driver }: GraphqlParts): Loose {
  const common = { autoSchemaFile: true, fieldResolverEnhancers: fields, ...driver };
  if (server === 'Mercurius') {
    const subscription = {
      // Queries and mutations over the socket as well, as graphql-ws has them.
      fullWsTransport: true,
      ...(onConnect && { onConnect: ({ payload }: Loose) => onConnect(payload) }),
    };
    return { driver: MercuriusDriver, allowBatchedQueries: true, subscription, ...common };
  }
  const connecting = (context: Loose) => {
    Object.assign(context.extra, onConnect?.(context.connectionParams));
    return true;
  };
  return {
    driver: ApolloDriver,
    allowBatchedHttpRequests: true,
    subscriptions: { 'graphql-ws': { onConnect: connecting } },
    // As in development, where an error of the program tells where it was thrown.
    includeStacktraceInErrorResponses: true,
    ...common,
  };
}

const adapterOf = (server: ServerName) => (server === 'Apollo on Express' ? 'express' : 'fastify');

function partsOf(server: ServerName, parts: GraphqlParts): AppParts {
  return {
    limits: { user: userOf, ...parts.limits },
    imports: [GraphQLModule.forRoot(driverOptions(server, parts))],
    providers: [...parts.resolvers, ...(parts.providers ?? [])],
  };
}

/** The faults with which such an application refuses to start. */
export function graphqlFaults(server: ServerName, parts: GraphqlParts): Promise<Fault[]> {
  return faultsOf(partsOf(server, parts), adapterOf(server));
}

export async function startGraphql(server: ServerName, parts: GraphqlParts): Promise<GraphqlApp> {
  const running = await start(adapterOf(server), partsOf(server, parts));
  const { port } = running.app.getHttpServer().address();
  const url = `http://127.0.0.1:${port}/graphql`;
  const post: GraphqlApp['post'] = async (body, headers) =>
    answerOf(
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );
  return {
    ...running,
    url,
    post,
    ask: (query, { user, headers, ...more } = {}) =>
      post({ query, ...more }, { ...(user && { 'x-user': user }), ...headers }),
    get: async (query, more = {}) => answerOf(await fetchByGet(url, query, more)),
    connect: (connectionParams) => connect(url.replace('http', 'ws'), connectionParams),
  };
}

function fetchByGet(url: string, query: string, { user, headers, ...more }: Ask) {
  const { variables, operationName } = more;
  const search = new URLSearchParams({
    query,
    ...(variables && { variables: JSON.stringify(variables) }),
    ...(operationName && { operationName }),
  });
  // Apollo answers no simple request of a page from elsewhere.
  const sent = { 'apollo-require-preflight': 'yes', ...(user && { 'x-user': user }), ...headers };
  return fetch(`${url}?${search}`, { headers: sent });
}

async function answerOf(response: Response): Promise<GraphqlAnswer> {
  const text = await response.text();
  const body = JSON.parse(text);
  const { status, headers } = response;
  return { status, text, headers, body, data: body.data, errors: body.errors ?? [] };
}

function connect(url: string, connectionParams?: Readonly<Record<string, unknown>>): SocketClient {
  const client = createClient({
    url,
    webSocketImpl: WebSocket,
    connectionParams,
    retryAttempts: 0,
  });
  clients.push(client);
  const receive: SocketClient['receive'] = (query, variables) =>
    new Promise((resolve, reject) => {
      const data: Loose[] = [];
      const errors: AnsweredError[] = [];
      client.subscribe<Loose>(
        { query, variables },
        {
          next: (result) => {
            data.push(result.data);
            errors.push(...((result.errors ?? []) as readonly AnsweredError[]));
          },
          complete: () => resolve({ data, errors }),
          // A list where the operation failed; anything else is a fault of the connection.
          error: (reason) =>
            Array.isArray(reason)
              ? resolve({ data, errors: [...errors, ...reason] })
              : reject(reason),
        },
      );
    });
  return { receive, terminate: () => client.terminate() };
}

// ── what tests look at ────────────────────────────────────────────────────────────────────────────

/** How many fields of an answer have a value: the calls that were admitted. */
export function admitted({ data }: { readonly data: Loose }): number {
  return Object.values(data ?? {}).filter((value) => value !== null).length;
}

/** How many errors of an answer are refusals. */
export function refused({ errors }: { readonly errors: readonly AnsweredError[] }): number {
  return errors.filter(({ extensions }) => extensions?.['code'] === 'TOO_MANY_REQUESTS').length;
}

/** What is left of an api's counter for a user. */
export async function leftOf({ service }: Running, user: string, api: string): Promise<number> {
  return (await service.peek(user, api)).remaining;
}

/** What is left of an api's counter for those who are not known, all from this machine. */
export async function leftOfAddress({ service }: Running, api: string): Promise<number> {
  return (await service.peek(undefined, api, { dimensions: { ip: '127.0.0.1' } })).remaining;
}
