/* One application with the same handlers on every transport, and a caller for each. */
import { ApolloDriver } from '@nestjs/apollo';
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type DynamicModule,
  type ExecutionContext,
  Get,
  HttpException,
  type INestApplication,
  Injectable,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { ClientProxyFactory, EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import {
  BaseWsExceptionFilter,
  SubscribeMessage,
  WebSocketGateway,
  WsException,
} from '@nestjs/websockets';
import {
  Clock,
  RateLimit,
  RateLimitModule,
  type RateLimitOptions,
  RateLimitService,
} from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import { firstValueFrom } from 'rxjs';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';

/** Who calls, and how it is to end. */
export interface Caller {
  readonly user?: string;
  /** Read by a guard of the handler alone. */
  readonly token?: string;
  /** The handler throws. */
  readonly bad?: boolean;
}

export type HandlerName = 'plain' | 'strict' | 'guarded' | 'login' | 'heavy' | 'patient';

/** What a caller is told: `in`, `no 5000`, or how else it ended. */
export type Answer = string;

export interface CoreApp {
  readonly clock: CountingClock;
  readonly service: RateLimitService;
  call(handler: HandlerName, caller?: Caller): Promise<Answer>;
  /** The RateLimit header of the last answer; undefined where there is none. */
  header(): string | undefined;
}

/** Tells how many sleep. */
export class CountingClock extends FakeClock {
  slept = 0;

  override sleep(...args: Parameters<FakeClock['sleep']>): Promise<void> {
    this.slept++;
    return super.sleep(...args);
  }
}

// ── handlers ──────────────────────────────────────────────────────────────────────────────────────

// biome-ignore lint/suspicious/noExplicitAny: contexts of every transport
type Loose = any;

/** What a call brought along, wherever its transport has it. */
function broughtBy(context: ExecutionContext): Loose {
  const [first, second, third] = context.getArgs();
  switch (context.getType<string>()) {
    case 'http':
      return first;
    case 'graphql':
      return third.req ?? third.reply.request;
    case 'ws':
      return second;
    default:
      return first;
  }
}

/** Finds out who calls; of HTTP, a header says it. */
@Injectable()
class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const brought = broughtBy(context);
    const user = brought.token ?? brought.headers?.['x-token'];
    if (user) brought.user = user;
    return true;
  }
}

const userOf = (_: unknown, context: ExecutionContext) => {
  const brought = broughtBy(context);
  return brought.user ?? brought.headers?.['x-user'];
};

/** Which decorators stand on a handler, beside the one of its transport. */
const DECORATORS: Readonly<Record<HandlerName, readonly MethodDecorator[]>> = {
  plain: [],
  strict: [RateLimit('fixed-window,1,10')],
  guarded: [UseGuards(TokenGuard)],
  login: [RateLimit('fixed-window,1,10,count=failures')],
  heavy: [RateLimit('fixed-window,10,10', { cost: 5, settle: () => 1 })],
  patient: [RateLimit('fixed-window,1,1,wait=5s')],
};

/** A class of these handlers. */
function handlersOf(
  transport: (name: HandlerName) => Loose,
  run: (...args: Loose[]) => unknown,
): new () => object {
  class Handlers {}
  for (const name of Object.keys(DECORATORS) as HandlerName[]) {
    // Each its own, since decorators write on it.
    const method = { [name]: (...args: Loose[]) => run(...args) }[name]!;
    const descriptor = { value: method, writable: true, configurable: true };
    for (const decorator of [...DECORATORS[name], transport(name)]) {
      decorator(Handlers.prototype, name, descriptor);
    }
    Object.defineProperty(Handlers.prototype, name, descriptor);
  }
  return Handlers;
}

function endsWell(bad: unknown): true {
  if (bad) throw new HttpException('wrong password', 401);
  return true;
}

// ── applications ──────────────────────────────────────────────────────────────────────────────────

const opened: { close(): unknown }[] = [];

/** Closes what the last test opened, the last first. */
export async function closeAll(): Promise<void> {
  for (const one of opened.splice(0).reverse()) await one.close();
}

interface Parts {
  readonly limits: RateLimitOptions;
  readonly imports?: DynamicModule[];
  readonly controllers?: (new () => object)[];
  readonly providers?: (new () => object)[];
  readonly fastify?: boolean;
  readonly setUp?: (app: INestApplication) => unknown;
}

async function start({ limits, fastify, setUp, ...module }: Parts) {
  const clock = new CountingClock(1_700_000_000_000);
  const limiter = RateLimitModule.forRoot({ user: userOf, ...limits } as object);
  const compiled = await Test.createTestingModule({
    ...module,
    imports: [...(module.imports ?? []), limiter],
  })
    .overrideProvider(Clock)
    .useValue(clock)
    .compile();
  const adapter: Loose = fastify ? new FastifyAdapter() : new ExpressAdapter();
  const app = compiled.createNestApplication(adapter, { logger: false });
  opened.push(app);
  await setUp?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address();
  const service = app.get(RateLimitService, { strict: false });
  return { app, clock, service, url: `127.0.0.1:${port}` };
}

const headersOf = ({ user, token, bad }: Caller): Record<string, string> => ({
  ...(user && { 'x-user': user }),
  ...(token && { 'x-token': token }),
  ...(bad && { 'x-bad': 'yes' }),
});

/** What a refusal says; anything else that is no answer is told as it is. */
function answerOf(said: Loose): Answer {
  return said?.retryAfterMillis === undefined ? 'failed' : `no ${said.retryAfterMillis}`;
}

// ── HTTP ──────────────────────────────────────────────────────────────────────────────────────────

async function http(limits: RateLimitOptions, fastify: boolean): Promise<CoreApp> {
  const Requests = handlersOf(
    (name) => (target: object, key: string, descriptor: PropertyDescriptor) => {
      Req()(target, key, 0);
      Get(name)(target, key, descriptor);
    },
    (request) => ({ done: endsWell(request.headers['x-bad']) }),
  );
  Controller()(Requests);
  const { clock, service, url } = await start({ limits, controllers: [Requests], fastify });
  let last: string | null;
  const call = async (handler: HandlerName, caller: Caller = {}) => {
    const response = await fetch(`http://${url}/${handler}`, { headers: headersOf(caller) });
    last = response.headers.get('ratelimit');
    const body = await response.text();
    return response.ok ? 'in' : answerOf(JSON.parse(body));
  };
  return { clock, service, call, header: () => last ?? undefined };
}

// ── GraphQL ───────────────────────────────────────────────────────────────────────────────────────

async function graphql(
  limits: RateLimitOptions,
  driver: Loose,
  fastify: boolean,
): Promise<CoreApp> {
  const Resolvers = handlersOf(
    (name) => Query(() => Boolean, { name }),
    (_parent, _args, context) => endsWell((context.req ?? context.reply.request).headers['x-bad']),
  );
  Resolver()(Resolvers);
  const module = GraphQLModule.forRoot({ driver, autoSchemaFile: true } as Loose);
  const { clock, service, url } = await start({
    limits,
    imports: [module],
    providers: [Resolvers],
    fastify,
  });
  let last: string | null;
  const call = async (handler: HandlerName, caller: Caller = {}) => {
    const response = await fetch(`http://${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headersOf(caller) },
      body: JSON.stringify({ query: `{ ${handler} }` }),
    });
    last = response.headers.get('ratelimit');
    const { errors } = JSON.parse(await response.text());
    return errors ? answerOf(errors[0].extensions) : 'in';
  };
  return { clock, service, call, header: () => last ?? undefined };
}

// ── gateways ──────────────────────────────────────────────────────────────────────────────────────

/** Over ws Nest 11 tells a client of no exception by itself. */
@Catch()
class TellingFilter extends BaseWsExceptionFilter {
  override catch(exception: Loose, host: ArgumentsHost): void {
    const data = exception instanceof WsException ? exception.getError() : {};
    host
      .switchToWs()
      .getClient()
      .send(JSON.stringify({ event: 'exception', data }));
  }
}

async function gateway(limits: RateLimitOptions, library: 'socket.io' | 'ws'): Promise<CoreApp> {
  const Gateway = handlersOf(
    (name) => SubscribeMessage(name),
    (_socket, { bad }) => ({ event: 'answer', data: endsWell(bad) }),
  );
  WebSocketGateway()(Gateway);
  if (library === 'ws') UseFilters(TellingFilter)(Gateway);
  const { clock, service, url } = await start({
    limits,
    providers: [Gateway],
    setUp: (app) => library === 'ws' && app.useWebSocketAdapter(new WsAdapter(app)),
  });
  const socket = library === 'ws' ? await overWs(url) : await overSocketIo(url);
  opened.push(socket);
  return { clock, service, header: () => undefined, call: socket.call };
}

interface Socket {
  call(handler: HandlerName, caller?: Caller): Promise<Answer>;
  close(): unknown;
}

/** The next thing that comes is the answer: one call is on its way at a time. */
const answered = (event: string, data: unknown): Answer =>
  event === 'answer' ? 'in' : answerOf(data);

async function overSocketIo(url: string): Promise<Socket> {
  const socket = io(`http://${url}`, { transports: ['websocket'] });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const call = (handler: HandlerName, caller: Caller = {}) =>
    new Promise<Answer>((resolve) => {
      const take = (event: string, data: unknown) => {
        socket.offAny(take);
        resolve(answered(event, data));
      };
      socket.onAny(take);
      socket.emit(handler, caller);
    });
  return { call, close: () => socket.close() };
}

async function overWs(url: string): Promise<Socket> {
  const socket = new WebSocket(`ws://${url}`);
  await new Promise((resolve) => socket.once('open', resolve));
  const call = (handler: HandlerName, caller: Caller = {}) =>
    new Promise<Answer>((resolve) => {
      socket.once('message', (text) => {
        const { event, data } = JSON.parse(String(text));
        resolve(answered(event, data));
      });
      socket.send(JSON.stringify({ event: handler, data: caller }));
    });
  return { call, close: () => socket.terminate() };
}

// ── microservices ─────────────────────────────────────────────────────────────────────────────────

const TCP = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } } as const;

/** A microservice that inherits the global guards and interceptors of its application, or not. */
async function microservice(
  limits: RateLimitOptions,
  kind: 'message' | 'event',
  inheritAppConfig = true,
): Promise<CoreApp> {
  const ended: ((answer: Answer) => void)[] = [];
  const Messages = handlersOf(
    (name) => (kind === 'message' ? MessagePattern({ cmd: name }) : EventPattern(name)),
    ({ bad }) => {
      if (kind === 'event') ended.shift()?.(bad ? 'failed' : 'in');
      return endsWell(bad);
    },
  );
  Controller()(Messages);
  let server: Loose;
  const { clock, service } = await start({
    limits,
    controllers: [Messages],
    setUp: async (app) => {
      const connected: Loose = app.connectMicroservice(TCP, { inheritAppConfig });
      await app.startAllMicroservices();
      server = (connected.server ?? connected.serverInstance).server;
    },
  });
  const { port } = server.address();
  const client = ClientProxyFactory.create({ ...TCP, options: { host: '127.0.0.1', port } });
  opened.push(client);
  service.events$.subscribe((event) => {
    if (event.type === 'event-refused') ended.shift()?.(answerOf(event.decision));
  });
  const send = (handler: HandlerName, caller: Caller) =>
    firstValueFrom(client.send({ cmd: handler }, caller)).then(() => 'in', answerOf);
  const emit = (handler: HandlerName, caller: Caller) =>
    new Promise<Answer>((resolve) => {
      ended.push(resolve);
      client.emit(handler, caller);
    });
  const ways = { message: send, event: emit };
  return {
    clock,
    service,
    header: () => undefined,
    call: (handler, caller = {}) => ways[kind](handler, caller),
  };
}

/** Every transport by its name. */
export const TRANSPORTS = {
  'HTTP, Express': (limits) => http(limits, false),
  'HTTP, Fastify': (limits) => http(limits, true),
  'GraphQL, Apollo, Express': (limits) => graphql(limits, ApolloDriver, false),
  'GraphQL, Apollo, Fastify': (limits) => graphql(limits, ApolloDriver, true),
  'GraphQL, Mercurius': (limits) => graphql(limits, MercuriusDriver, true),
  'Gateway, socket.io': (limits) => gateway(limits, 'socket.io'),
  'Gateway, ws': (limits) => gateway(limits, 'ws'),
  'Microservice, messages': (limits) => microservice(limits, 'message'),
  'Microservice, events': (limits) => microservice(limits, 'event'),
  'Hybrid, without inheritAppConfig': (limits) => microservice(limits, 'message', false),
} as const satisfies Record<string, (limits: RateLimitOptions) => Promise<CoreApp>>;

export type TransportName = keyof typeof TRANSPORTS;
