import { messageOf } from '../../core/fault.js';

/** How many instances share the limits: a number, a function that knows, or counted in Redis. */
export type InstancesOption = number | (() => number) | 'auto';

/** What counting in Redis needs. */
export interface HeartbeatParts {
  /** Sends one command at once, to the node that has `key`; rejects where it cannot. */
  readonly send: (key: string, command: readonly string[]) => Promise<unknown>;
  /** The store's: instances of one prefix share their limits. */
  readonly prefix: string;
  /** The text of heartbeat.lua. */
  readonly script: string;
  /** Told what an operator should change, once. */
  readonly onWarning: (warning: { readonly code: string; readonly message: string }) => void;
}

/** Who was not heard of for three of these is no longer counted. */
const BEAT_MILLIS = 5000;

/**
 * How many instances share the limits. With `auto` each instance tells every 5 s that it is there,
 * in one sorted set of Redis, and is told how many there are; when Redis does not answer, the last
 * number stays, and 1 before the first.
 */
export class Instances {
  private readonly id = crypto.randomUUID();
  private readonly key: string;
  private timer: NodeJS.Timeout | undefined;
  private counted = 1;
  private warned = false;
  private closed = false;

  /** @throws RangeError for a number that is not whole and 1 or more, and any other value */
  constructor(
    private readonly option: InstancesOption,
    private readonly parts: HeartbeatParts,
  ) {
    if (!(option === 'auto' || typeof option === 'function' || isCount(option))) {
      throw new RangeError(
        `instances is a whole number from 1 on, a function that answers one, or 'auto', got ${given(option)}`,
      );
    }
    this.key = `${parts.prefix}:{instances}`;
  }

  /** A whole number, 1 or more. */
  get count(): number {
    if (typeof this.option === 'function') return this.ask(this.option);
    return this.option === 'auto' ? this.counted : this.option;
  }

  /** Begins to beat, where that is how instances are counted. Keeps no process alive. */
  start(): void {
    if (this.option !== 'auto' || this.timer || this.closed) return;
    this.timer = setInterval(() => void this.beat(), BEAT_MILLIS).unref();
    void this.beat();
  }

  /** Stops, and takes its leave of the others as far as Redis can be reached. Never rejects. */
  async close(): Promise<void> {
    this.closed = true;
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = undefined;
    await this.send(['ZREM', this.key, this.id]);
  }

  /**
   * Tells the others now, and learns how many there are: for when Redis is back and the next beat
   * far. Never rejects.
   */
  async beat(): Promise<void> {
    if (this.option !== 'auto' || this.closed) return;
    const command = ['EVAL', this.parts.script, '1', this.key, this.id, String(BEAT_MILLIS)];
    const count = await this.send(command);
    if (isCount(count)) this.counted = count;
  }

  /** The reply; undefined when there is none, since a beat that is lost is followed by the next. */
  private async send(command: readonly string[]): Promise<unknown> {
    try {
      return await this.parts.send(this.key, command);
    } catch {
      return undefined;
    }
  }

  /** A function's mistake must not stop what it is asked for: then each counts as if alone. */
  private ask(option: () => number): number {
    let answer: string;
    try {
      const count: unknown = option();
      if (isCount(count)) return count;
      answer = given(count);
    } catch (error) {
      answer = `Error: ${messageOf(error)}`;
    }
    this.warn(answer);
    return 1;
  }

  private warn(answer: string): void {
    if (this.warned) return;
    this.warned = true;
    this.parts.onWarning({
      code: 'INSTANCES',
      message: `The function instances answers a whole number from 1 on, got ${answer}: 1 is taken`,
    });
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

function given(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? JSON.stringify(value) : typeof value;
}
