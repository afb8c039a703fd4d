import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type INestApplication,
  Logger,
  type LoggerService,
  type ModuleMetadata,
} from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import {
  Clock,
  type DroppedEvent,
  type Fault,
  type Outcome,
  RateLimitConfigError,
  RateLimitModule,
  type RateLimitOptions,
  RateLimitService,
  RateLimitStore,
  type StoreEntry,
} from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import { filter, type Observable } from 'rxjs';
import request from 'supertest';

export const ADAPTERS = ['express', 'fastify'] as const;
export type AdapterName = (typeof ADAPTERS)[number];

/** 5 s into a box of 10 s and of a minute. */
export const START = 1_700_000_045_000;

// ── what is logged ────────────────────────────────────────────────────────────────────────────────

/** Keeps what an application logs; on its own, the lines of the limiter. */
export class LogBook implements LoggerService {
  private readonly lines: { level: string; text: string; context: unknown }[] = [];

  log(text: unknown, ...rest: unknown[]): void {
    this.keep('log', text, rest);
  }

  warn(text: unknown, ...rest: unknown[]): void {
    this.keep('warn', text, rest);
  }

  error(text: unknown, ...rest: unknown[]): void {
    this.keep('error', text, rest);
  }

  /** The warnings of the limiter that hold all of these words. */
  warnings(...words: string[]): string[] {
    return this.ofLimiter('warn').filter((text) => words.every((word) => text.includes(word)));
  }

  ofLimiter(level: 'log' | 'warn' | 'error'): string[] {
    return this.lines
      .filter((line) => line.level === level && line.context === 'RateLimit')
      .map(({ text }) => text);
  }

  private keep(level: string, text: unknown, rest: unknown[]): void {
    this.lines.push({ level, text: String(text), context: rest.at(-1) });
  }
}

// ── applications ──────────────────────────────────────────────────────────────────────────────────

export interface AppParts extends ModuleMetadata {
  /** Options of the module; left out: no limiter but the one among `imports`. */
  readonly limits?: unknown;
  readonly adapter?: AbstractHttpAdapter;
  readonly startMillis?: number;
  /** Overrides and the like. */
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  /** Prefix, versions, proxies: what is set before the start. */
  readonly setUp?: (app: INestApplication) => void;
}

export interface Running {
  readonly app: INestApplication;
  readonly clock: FakeClock;
  readonly logs: LogBook;
  readonly service: RateLimitService;
  readonly http: ReturnType<typeof request>;
}

const opened: INestApplication[] = [];

/** A request that was never answered would keep an application, and with it the tests, open. */
afterEach(async () => {
  for (const app of opened) app.getHttpServer().closeAllConnections();
  await Promise.all(opened.splice(0).map((app) => app.close()));
});

export function createAdapter(name: AdapterName): AbstractHttpAdapter {
  return name === 'express' ? new ExpressAdapter() : new FastifyAdapter();
}

/** Starts an application; it is closed after the test. */
export async function start(name: AdapterName, parts: AppParts): Promise<Running> {
  const { limits, adapter = createAdapter(name), startMillis = START, override, setUp } = parts;
  const { imports = [], controllers = [], providers = [] } = parts;
  const clock = new FakeClock(startMillis);
  const logs = new LogBook();
  const limiter = limits === undefined ? [] : [RateLimitModule.forRoot(limits as object)];
  const builder = Test.createTestingModule({
    imports: [...imports, ...limiter],
    controllers,
    providers,
  })
    .setLogger(logs)
    .overrideProvider(Clock)
    .useValue(clock);
  const module = await (override?.(builder) ?? builder).compile();
  const app = module.createNestApplication(adapter, { logger: logs });
  opened.push(app);
  setUp?.(app);
  await app.init();
  await app.getHttpAdapter().getInstance().ready?.();
  await app.listen(0, '127.0.0.1');
  const service = app.get(RateLimitService, { strict: false });
  return { app, clock, logs, service, http: request(app.getHttpServer()) };
}

/** Requests that come through a Unix socket, which has no address. */
export async function overUnixSocket(
  { app }: Running,
  times: number,
  path: string,
): Promise<IncomingMessage[]> {
  const folder = mkdtempSync(join(tmpdir(), 'doorman-'));
  const socketPath = join(folder, 'socket');
  const server = app.getHttpServer();
  const gate = createServer((socket) => server.emit('connection', socket)).listen(socketPath);
  await once(gate, 'listening');
  const answers: IncomingMessage[] = [];
  for (let i = 0; i < times; i++) {
    const [answer] = await once(get({ socketPath, path, agent: false }), 'response');
    answers.push(answer.resume());
  }
  gate.close();
  rmSync(folder, { recursive: true });
  return answers;
}

/** The faults with which an application refuses to start; each test expects some. */
export async function faultsOf(parts: AppParts, name: AdapterName = 'express'): Promise<Fault[]> {
  const error = await start(name, parts).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RateLimitConfigError)) {
    throw new Error(`Expected a RateLimitConfigError, got ${error ?? 'a started application'}`);
  }
  return [...error.faults];
}

/** Stops others from logging between the tests. */
beforeAll(() => Logger.overrideLogger(false));

const unhandled: unknown[] = [];
const keep = (reason: unknown) => unhandled.push(reason);

/** No promise is left to reject unheard, whatever a test did. */
beforeAll(() => process.on('unhandledRejection', keep));
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', keep);
  expect(unhandled).toEqual([]);
});

// ── who asks ──────────────────────────────────────────────────────────────────────────────────────

/** Signed in by a header: middleware, so that every guard sees the user. */
export const userOf = (req: { headers: Record<string, string | undefined> }) =>
  req.headers['x-user'];

/** The rules alone, told by `x-user` who asks. */
export function byHeader(rules: unknown, more: Partial<RateLimitOptions> = {}): object {
  return { user: userOf, rules, ...more } as object;
}

/** Requests to `path` as `user`, one after another; the status of each. */
export async function statuses(
  { http }: Pick<Running, 'http'>,
  times: number,
  path: string,
  headers: Record<string, string> = {},
  method: 'get' | 'post' | 'head' | 'put' | 'delete' | 'options' = 'get',
): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < times; i++) seen.push((await http[method](path).set(headers)).status);
  return seen;
}

/** The values of a header as they went over the wire, one for each time that it stands there. */
export function valuesOf(response: request.Response, name: string): string[] {
  const raw: string[] = (response as unknown as { res: { rawHeaders: string[] } }).res.rawHeaders;
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === name.toLowerCase());
}

/** What is left, as the header says. */
export function left(response: request.Response): number {
  return Number(/;r=(\d+)/.exec(response.headers['ratelimit'] ?? '')?.[1]);
}

/** Of what happens beside decisions, what could not be charged. */
export function droppedOf({ events$ }: RateLimitService): Observable<DroppedEvent> {
  return events$.pipe(filter((event) => event.type === 'dropped'));
}

// ── stores ────────────────────────────────────────────────────────────────────────────────────────

/** Another store, asked by promises: as a store on a network would answer. */
export class SlowStore extends RateLimitStore {
  override readonly name: string = 'slow';
  closed = 0;
  decided = 0;

  constructor(private readonly inner: RateLimitStore) {
    super();
  }

  override async decide(entries: readonly StoreEntry[], now: number): Promise<readonly Outcome[]> {
    await Promise.resolve();
    this.decided++;
    return this.inner.decide(entries, now);
  }

  override async settle(...args: Parameters<RateLimitStore['settle']>): Promise<number> {
    return this.inner.settle(...args);
  }

  override async reset(...args: Parameters<RateLimitStore['reset']>): Promise<void> {
    await this.inner.reset(...args);
  }

  override async block(...args: Parameters<RateLimitStore['block']>): Promise<void> {
    await this.inner.block(...args);
  }

  override async close(): Promise<void> {
    this.closed++;
    await this.inner.close();
  }
}
