import { performance } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type CounterPlan, planCounters } from '../../../../src/core/counter-plan.js';
import {
  type Decision,
  type Outcome,
  Policy,
  type StoreEntry,
} from '../../../../src/core/index.js';
import { RedisStore, type RedisStoreOptions } from '../../../../src/stores/redis/index.js';
import type { RedisServer } from '../../../support/redis-server.js';
import { until } from '../../../support/until.js';

export const CLIENTS = ['ioredis', 'node-redis'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** Boxes of a year: no test meets the end of one. */
export const ALGORITHMS = [
  'token-bucket,5,365d',
  'fixed-window,5,365d',
  'sliding-window,5,365d',
  'sliding-window-counter,5,365d',
] as const;

/** A client as an application would have it; not connected, as the store has a connection itself. */
export function clientOf(
  name: ClientName,
  port: number,
  login: { readonly username?: string; readonly password?: string } = {},
) {
  const host = '127.0.0.1';
  return name === 'ioredis'
    ? new Redis({ host, port, ...login, lazyConnect: true })
    : createClient({ socket: { host, port }, ...login });
}

const opened: Shop[] = [];
let shops = 0;

/** A store and who asks it. */
export class Shop {
  readonly store: RedisStore;
  /** What the store told: `failed`, `recovered`, `breaker open`, … */
  readonly events: string[] = [];
  readonly prefix: string;
  private skipped = 0;
  private readonly plans = new Map<string, readonly CounterPlan[]>();

  constructor(
    client: ReturnType<typeof clientOf> | { url: string },
    options: Partial<RedisStoreOptions> = {},
  ) {
    this.prefix = options.prefix ?? `shop${++shops}`;
    this.store = new RedisStore(client, { ...options, prefix: this.prefix });
    this.store.onEvent((event) => {
      const detail =
        event.type === 'breaker' ? event.state : event.type === 'warning' && event.code;
      this.events.push(detail ? `${event.type} ${detail}` : event.type);
    });
    opened.push(this);
  }

  /** One whose store can be asked. */
  static async open(...args: ConstructorParameters<typeof Shop>): Promise<Shop> {
    const shop = new Shop(...args);
    await until('the store is connected', () => shop.store.connected);
    return shop;
  }

  /** The Clock's reading: real time, and what was skipped of it. */
  get now(): number {
    return Math.floor(performance.timeOrigin + performance.now()) + this.skipped;
  }

  /** Of the Clock alone: the breaker lets the next probe go, and no counter has changed. */
  skipSecond(): void {
    this.skipped += 1001;
  }

  entry(rule: string, user = 'alice', cost = 1, mode: StoreEntry['mode'] = 'take'): StoreEntry {
    let plans = this.plans.get(rule);
    if (!plans) {
      plans = planCounters({ policy: Policy.parse(rule), place: rule, label: 'test' });
      this.plans.set(rule, plans);
    }
    return { counters: plans.map((plan) => ({ plan, values: [user] })), cost, mode };
  }

  async outcome(...args: Parameters<Shop['entry']>): Promise<Outcome> {
    const [outcome] = await this.store.decide([this.entry(...args)], this.now);
    return outcome!;
  }

  async take(rule: string, user?: string, cost?: number): Promise<Decision> {
    return (await this.outcome(rule, user, cost)).decision;
  }

  async peek(rule: string, user?: string): Promise<Decision> {
    return (await this.outcome(rule, user, 1, 'peek')).decision;
  }

  /** One after another; the decisions in few words. */
  async takes(times: number, rule: string, user?: string): Promise<string> {
    const words: string[] = [];
    for (let i = 0; i < times; i++) words.push(wordsOf(await this.take(rule, user)));
    return words.join(', ');
  }

  /** Waits until Redis decides again; takes nothing. */
  async recovered(rule: string = ALGORITHMS[0]): Promise<void> {
    await until('Redis decides again', async () => {
      this.skipSecond();
      return !(await this.peek(rule)).degraded;
    });
  }

  /** Opens the breaker by failures one after another. */
  async untilOpen(rule: string = ALGORITHMS[0]): Promise<void> {
    await until('the breaker is open', async () => {
      await this.peek(rule);
      return this.events.at(-1) === 'breaker open';
    });
  }

  /** All counters as that server holds them. */
  async held(server: RedisServer): Promise<string[]> {
    const keys = (await server.send('KEYS', `${this.prefix}:*`)) as string[];
    const all: string[] = [];
    for (const key of keys.filter((one) => !one.endsWith('{instances}')).sort()) {
      const isList = (await server.send('TYPE', key)) === 'list';
      const value = isList ? server.send('LRANGE', key, 0, -1) : server.send('GET', key);
      all.push(`${key} ${await value}`);
    }
    return all;
  }
}

/** `yes`, `quota`, `store`, `never`; with `~` where Redis was not asked. */
export function wordsOf({ allowed, reason, degraded }: Decision): string {
  return `${degraded ? '~' : ''}${allowed ? 'yes' : reason}`;
}

export interface Waited<T> {
  readonly answer: T;
  /** Net of what the event loop of this process was late meanwhile. */
  readonly millis: number;
}

/**
 * How long something takes, less by how much the event loop was late meanwhile: a short timer over
 * and over, and what a timer of `timeoutMillis` and a turn after it take in the same run.
 */
export async function waitOf<T>(act: () => Promise<T>, timeoutMillis = 100): Promise<Waited<T>> {
  const from = performance.now();
  let due = from + 5;
  let late = 0;
  const look = () => {
    late = Math.max(late, performance.now() - due);
    due = performance.now() + 5;
    timer = setTimeout(look, 5);
  };
  let timer = setTimeout(look, 5);
  let control = Number.POSITIVE_INFINITY;
  const fire = () => setImmediate(() => (control = performance.now()));
  const controlTimer = setTimeout(fire, timeoutMillis);
  const answer = await act();
  const now = performance.now();
  clearTimeout(timer);
  clearTimeout(controlTimer);
  const controlLate = Math.min(control, now) - from - timeoutMillis;
  return { answer, millis: now - from - Math.max(0, late, now - due, controlLate) };
}

export interface Instant<T> extends Waited<T> {
  /** Whether it was answered before the event loop turned: no socket and no timer was waited for. */
  readonly atOnce: boolean;
}

/** As `waitOf`, for what should not wait at all: less the time in which this process did not run. */
export async function instantOf<T>(act: () => Promise<T>): Promise<Instant<T>> {
  let turned = false;
  const turn = setImmediate(() => {
    turned = true;
  });
  const busy = process.cpuUsage();
  const from = performance.now();
  const answer = await act();
  const millis = performance.now() - from;
  const { user, system } = process.cpuUsage(busy);
  clearImmediate(turn);
  return { answer, millis: Math.min(millis, (user + system) / 1000), atOnce: !turned };
}

/**
 * Expects that nobody waits: each is answered before the event loop turns, and in a millisecond. The
 * time of each is the least of three rounds, as the machine may do something else meanwhile, but not
 * at the same place of every round.
 */
export async function expectNoWait<T>(
  asks: readonly (() => Promise<T>)[],
  expectAnswer: (answer: T, i: number) => void,
): Promise<void> {
  const least = asks.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 3; round++) {
    for (const [i, ask] of asks.entries()) {
      const { answer, millis, atOnce } = await instantOf(ask);
      expectAnswer(answer, i);
      expect(atOnce).toBe(true);
      least[i] = Math.min(least[i]!, millis);
    }
  }
  expect(Math.max(...least)).toBeLessThanOrEqual(1);
}

afterEach(() => Promise.all(opened.splice(0).map(({ store }) => store.close())));

const unhandled: unknown[] = [];
const keep = (reason: unknown) => unhandled.push(reason);

/** No promise is left to reject unheard, whatever a test did. */
beforeAll(() => process.on('unhandledRejection', keep));
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', keep);
  expect(unhandled).toEqual([]);
});
