import { readFile, stat } from 'node:fs/promises';
import { types } from 'node:util';
import { messageOf, quote } from '../core/fault.js';
import type { Clock, MaybePromise } from '../core/index.js';

/** What a ConfigMap may hold; a larger file is no book of rules, whatever it is. */
const MAX_BYTES = 2 ** 20;

/** How long a new content has to stay the same at the most, before it is believed. */
const SETTLE_MILLIS = 200;

/** Which file is watched. */
export interface RulesFileOptions {
  readonly path: string;
  /** How often it is read: milliseconds of the clock, above 0, from the end of one look to the next. */
  readonly pollMillis: number;
}

/** Who is told of a file. The next look waits for what they promise. */
export interface RulesFileListener {
  /** The file says something else than it did: all of its text. */
  changed(text: string): MaybePromise<void>;
  /** The file can be read no more: once, until it has been readable again. */
  unreadable(error: Error): MaybePromise<void>;
}

/**
 * Looks at a file now and then, and tells when it says something else.
 *
 * What is compared is the content: a mounted ConfigMap changes by links that are swapped, which
 * leaves whoever watches the file with the old one, and its times need not change with it. A file
 * may be met half written, or emptied and not written yet: a new content counts when it was read
 * the same twice in a row, the second time after `pollMillis`, 200 ms at the most. Who writes more
 * slowly than that writes another file and renames it.
 *
 * Each content is told of once, whatever the listener made of it; going back to the one before is
 * another change. While the file cannot be read, what was read last stands.
 */
export class RulesFile {
  private readonly closing = new AbortController();
  private started = false;
  /** What the listener was told last, or knew at start. */
  private known: string | undefined;
  private readable = true;

  /** @param clock paces the looks; waiting for the next keeps no process alive */
  constructor(
    private readonly options: RulesFileOptions,
    private readonly clock: Clock,
    private readonly tell: RulesFileListener,
  ) {}

  /**
   * Begins to look, the first time after `pollMillis`. Once: later calls do nothing.
   *
   * @param textAtStart what the file said when it was read at start; undefined where it could not
   * be read, which then is known
   */
  start(textAtStart: string | undefined): void {
    if (this.started) return;
    this.started = true;
    this.known = textAtStart === undefined ? undefined : withoutMark(textAtStart);
    this.readable = textAtStart !== undefined;
    void this.poll();
  }

  /** Ends it, for good. Nothing is told any more, not even of a look that is under way. */
  close(): void {
    this.closing.abort();
  }

  private async poll(): Promise<void> {
    try {
      for (;;) {
        await this.sleep(this.options.pollMillis);
        await this.look();
      }
    } catch (error) {
      if (this.closing.signal.aborted) return;
      // Without a clock nothing says when to look again.
      const text = `${quote(this.options.path)} is looked at no more, its clock failed: ${messageOf(error)}`;
      await this.call(() => this.tell.unreadable(new Error(text, { cause: error })));
    }
  }

  private async look(): Promise<void> {
    let text = await this.read();
    while (text !== undefined && text !== this.known) {
      await this.sleep(Math.min(this.options.pollMillis, SETTLE_MILLIS));
      const again = await this.read();
      if (again === text) await this.learn(text);
      text = again;
    }
  }

  private learn(text: string): Promise<void> {
    this.known = text;
    return this.call(() => this.tell.changed(text));
  }

  /**
   * What the file says; undefined when it cannot be read.
   *
   * @throws the reason of closing
   */
  private async read(): Promise<string | undefined> {
    const { signal } = this.closing;
    try {
      const text = await readText(this.options.path, signal);
      signal.throwIfAborted();
      this.readable = true;
      return text;
    } catch (error) {
      signal.throwIfAborted();
      await this.lost(error);
      return undefined;
    }
  }

  private async lost(error: unknown): Promise<void> {
    if (!this.readable) return;
    this.readable = false;
    const given = isError(error) ? error : new Error(messageOf(error), { cause: error });
    await this.call(() => this.tell.unreadable(given));
  }

  /** @throws the reason of closing, also where the clock does not mind it */
  private async sleep(millis: number): Promise<void> {
    const { signal } = this.closing;
    await this.clock.sleep(millis, signal, { background: true });
    signal.throwIfAborted();
  }

  /**
   * A listener that throws is a mistake in a program, not in the file: it must not end the looking,
   * nor the process, nor pass in silence. Node's own warnings reach whoever watches the process.
   */
  private async call(listener: () => MaybePromise<void>): Promise<void> {
    try {
      await listener();
    } catch (error) {
      const text = `A listener of ${quote(this.options.path)} failed: ${messageOf(error)}`;
      const detail = isError(error) ? error.stack : undefined;
      process.emitWarning(text, { type: 'RateLimitWarning', ...(detail && { detail }) });
    }
  }
}

/**
 * The text of a file, without a mark of its byte order.
 *
 * @throws Error when it cannot be read, is no regular file, or is larger than 1 MiB
 */
async function readText(path: string, signal: AbortSignal): Promise<string> {
  const found = await stat(path);
  // A pipe or a device could be hung on, or never come to an end of.
  if (!found.isFile())
    throw new Error(`${quote(path)} is no file: rules are read from a plain one`);
  if (found.size > MAX_BYTES) throw tooLarge(path, found.size);
  const bytes = await readFile(path, { signal });
  // It may have grown since it was measured.
  if (bytes.length > MAX_BYTES) throw tooLarge(path, bytes.length);
  return withoutMark(bytes.toString('utf8'));
}

function tooLarge(path: string, size: number): Error {
  return new Error(`${quote(path)} has ${size} bytes: a file of rules has at most ${MAX_BYTES}`);
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Also one of another context: Node's own are, where a program is run in one. */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}
