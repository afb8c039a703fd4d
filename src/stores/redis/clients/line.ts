import type { RedisConnection } from './connection.js';
import { asError, type Link, PATIENCE_MILLIS, type Reach } from './link.js';
import { answers, saysReadOnly } from './server-words.js';
import { Traffic } from './traffic.js';

const FIRST_PAUSE_MILLIS = 25;
const LONGEST_PAUSE_MILLIS = 1_000;

export interface LineOptions {
  /** Told of every connection that failed or was lost. */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Rejects when the server at the other end is not the one to use. */
  readonly check?: (link: Link) => Promise<void>;
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
  private traffic = new Traffic();
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
    return this.waiting.length === 0 && this.traffic.idle;
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }

  send(_key: string, command: readonly string[]): Promise<unknown> {
    const { link, traffic, attempt } = this;
    if (link === undefined || !this.ready) {
      return Promise.reject(new Error('Not connected to Redis'));
    }
    traffic.begin();
    return link.send(command).then(
      (reply) => {
        traffic.done();
        return reply;
      },
      (error) => {
        traffic.done();
        if (saysReadOnly(error)) this.lose(attempt.signal, asError(error));
        throw error;
      },
    );
  }

  /** Resolves when an attempt to connect that is under way has succeeded or failed. */
  settled(): Promise<void> {
    if (this.ready || this.attempt.signal.aborted) return Promise.resolve();
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
    this.traffic = new Traffic(() => this.lose(signal, late('reply from')));
    this.timer = setTimeout(() => this.lose(signal, late('connection to')), PATIENCE_MILLIS);
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
    this.traffic.end();
    this.link?.close();
    this.link = undefined;
    this.greeted = false;
  }

  private change(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
    this.listener?.();
  }
}

function late(what: string): Error {
  return new Error(`No ${what} Redis within ${PATIENCE_MILLIS} ms`);
}
