import type { RedisConnection } from './connection.js';
import {
  type Address,
  asError,
  type Dial,
  type Link,
  type LinkEvents,
  PATIENCE_MILLIS,
} from './link.js';

const FIRST_PAUSE_MILLIS = 25;
const LONGEST_PAUSE_MILLIS = 1_000;

/** Opens one link. Aborted when it came too late or the connection was closed. */
export type Reach = (events: LinkEvents, signal: AbortSignal) => Promise<Link>;

/** Reaches an address with a dial that may still have to be loaded. */
export function reachWith(dial: Dial | Promise<Dial>, address?: Address): Reach {
  return async (events, signal) => {
    const dialNow = await dial;
    signal.throwIfAborted();
    return dialNow(address, events);
  };
}

export interface LineOptions {
  /** Told of every connection that failed or was lost. */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Rejects when the server at the other end is not the one to use. */
  readonly check?: (link: Link) => Promise<void>;
}

/** Commands of one link that were written, and those of them that were answered. */
interface Traffic {
  written: number;
  answered: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * A connection to one server: one link at a time, opened anew for ever, after a pause that grows to
 * a second.
 *
 * A link that leaves its commands unanswered for two seconds is given up: a server that stands still
 * and a network that swallows packets close no socket. So is one whose server turned out to be a
 * replica: the name or the sentinels may know of a new master by now.
 */
export class Line implements RedisConnection {
  readonly cluster = false;
  private link: Link | undefined;
  private greeted = false;
  private closed = false;
  private failures = 0;
  private attempt = new AbortController();
  private traffic: Traffic = { written: 0, answered: 0, timer: undefined };
  private timer: NodeJS.Timeout | undefined;
  private listener: (() => void) | undefined;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly reach: Reach,
    private readonly options: LineOptions = {},
  ) {
    void this.open();
  }

  get ready(): boolean {
    return this.greeted && this.link?.up === true;
  }

  /** Whether nobody waits for a reply, or for the connection. */
  get idle(): boolean {
    return this.waiting.length === 0 && this.traffic.answered === this.traffic.written;
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }

  send(_key: string, command: readonly string[]): Promise<unknown> {
    const { link, traffic, attempt } = this;
    if (link === undefined || !this.ready) {
      return Promise.reject(new Error('Not connected to Redis'));
    }
    traffic.written++;
    if (traffic.timer === undefined) this.watch(traffic, attempt.signal);
    return link.send(command).then(
      (reply) => {
        traffic.answered++;
        return reply;
      },
      (error) => {
        traffic.answered++;
        if (saysReadOnly(error)) this.lose(attempt.signal, asError(error));
        throw error;
      },
    );
  }

  /** Resolves when it is known whether the connection that is being opened comes to be. */
  settled(): Promise<void> {
    if (this.ready || this.closed) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.end();
    this.change();
  }

  private async open(): Promise<void> {
    this.attempt = new AbortController();
    const { signal } = this.attempt;
    this.traffic = { written: 0, answered: 0, timer: undefined };
    const late = new Error(`No connection to Redis within ${PATIENCE_MILLIS} ms`);
    this.timer = setTimeout(() => this.lose(signal, late), PATIENCE_MILLIS);
    try {
      const link = await this.reach(
        { up: () => void this.greet(signal), gone: (error) => this.lose(signal, error) },
        signal,
      );
      if (signal.aborted) link.close();
      else this.link = link;
    } catch (error) {
      this.lose(signal, asError(error));
    }
  }

  private async greet(signal: AbortSignal): Promise<void> {
    const { link } = this;
    if (signal.aborted || link === undefined) return;
    try {
      await this.options.check?.(link);
      await answers(link);
    } catch (error) {
      return this.lose(signal, asError(error));
    }
    if (signal.aborted) return;
    clearTimeout(this.timer);
    this.greeted = true;
    this.failures = 0;
    this.change();
  }

  /** The link of that attempt is of no use any more. */
  private lose(signal: AbortSignal, error = new Error('The connection to Redis was closed')): void {
    if (signal.aborted) return;
    this.end();
    const pause = Math.min(FIRST_PAUSE_MILLIS * 2 ** this.failures++, LONGEST_PAUSE_MILLIS);
    // Not in step with the other processes that lost the same server.
    this.timer = setTimeout(() => void this.open(), pause * (0.5 + Math.random() / 2));
    this.options.onError?.(error);
    this.change();
  }

  private end(): void {
    this.attempt.abort();
    clearTimeout(this.timer);
    clearTimeout(this.traffic.timer);
    this.link?.close();
    this.link = undefined;
    this.greeted = false;
  }

  private change(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
    this.listener?.();
  }

  /** Looks again later whether anything was answered meanwhile. One timer, however many commands. */
  private watch(traffic: Traffic, signal: AbortSignal): void {
    const { answered } = traffic;
    const look = () => {
      traffic.timer = undefined;
      if (signal.aborted || traffic.answered === traffic.written) return;
      if (traffic.answered !== answered) return this.watch(traffic, signal);
      this.lose(signal, new Error(`No reply from Redis within ${PATIENCE_MILLIS} ms`));
    };
    // After a turn of I/O: when this process stood still itself, the replies wait to be read.
    traffic.timer = setTimeout(() => setImmediate(look), PATIENCE_MILLIS);
  }
}

/** A server that lets in may still be loading its data. One that forbids PING is a server as well. */
async function answers(link: Link): Promise<void> {
  try {
    await link.send(['PING']);
  } catch (error) {
    if (!link.up || /^(LOADING|MASTERDOWN|NOAUTH)\b/.test(asError(error).message)) throw error;
  }
}

/** Redis 6.2 has its own words before those of a command that failed in a script. */
function saysReadOnly(error: unknown): boolean {
  return error instanceof Error && /(^|-)READONLY /.test(error.message);
}
