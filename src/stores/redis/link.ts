import { performance } from 'node:perf_hooks';
import { errorOf } from '../../core/fault.js';
import type { RedisConnection } from './clients/connection.js';
import { Lane, type LaneParts } from './lane.js';
import type { Request } from './request.js';
import { ServerClock } from './server-clock.js';

export interface LinkParts extends Pick<LaneParts, 'timeoutMillis' | 'onRefusal' | 'onOutcome'> {
  readonly connection: RedisConnection;
  /** Some key of the store's, for commands that are about none. */
  readonly anyKey: string;
  /** Called whenever it has become usable. */
  readonly onUsable: () => void;
}

/**
 * A connection and the lanes on it. Usable once the server has told its time, since every call
 * carries the last moment at which it may still act.
 */
export class Link {
  private readonly clock = new ServerClock();
  private readonly lanes = new Map<number, Lane>();
  private synced = false;
  private syncing = false;
  /** Those who asked before the first connection stood; undefined once that is over. */
  private waiting: (() => void)[] | undefined = [];
  private patience: NodeJS.Timeout | undefined;
  /** Why it could not be used last. */
  lastError: Error | undefined;

  constructor(private readonly parts: LinkParts) {
    parts.connection.onChange(() => this.changed());
    this.changed();
  }

  get usable(): boolean {
    return this.synced && this.parts.connection.ready;
  }

  ask(request: Request): void {
    const { slot } = request.counters[0]!;
    let lane = this.lanes.get(slot);
    if (!lane) {
      // Each node of a cluster has a time of its own; until it has told it, the first node's stands.
      const clock = this.parts.connection.cluster ? new ServerClock(this.clock) : this.clock;
      lane = new Lane({ ...this.parts, clock });
      this.lanes.set(slot, lane);
    }
    lane.ask(request);
  }

  /**
   * Calls back when it can be used, or when the time of one request has passed: for those who ask
   * while the first connection is still being made.
   *
   * @returns false when that is over, and nothing will be called
   */
  whenBooted(callback: () => void): boolean {
    if (!this.waiting) return false;
    this.waiting.push(callback);
    this.patience ??= setTimeout(() => this.booted(), this.parts.timeoutMillis);
    return true;
  }

  close(): void {
    this.booted();
    this.parts.connection.close();
  }

  private booted(): void {
    clearTimeout(this.patience);
    const { waiting } = this;
    this.waiting = undefined;
    for (const callback of waiting ?? []) callback();
  }

  private changed(): void {
    if (this.parts.connection.ready) void this.sync();
    else this.synced = false;
  }

  /** Asks the server for its time; whoever cannot be asked that cannot be used. */
  async sync(): Promise<void> {
    if (this.syncing || this.synced || !this.parts.connection.ready) return;
    this.syncing = true;
    try {
      const reply = await this.parts.connection.send(this.parts.anyKey, ['TIME']);
      const [seconds, micros] = (reply as unknown[]).map(Number);
      this.clock.forget();
      this.clock.sample(seconds! * 1000 + Math.floor(micros! / 1000), performance.now());
      this.synced = this.parts.connection.ready;
    } catch (error) {
      this.lastError = errorOf(error);
    } finally {
      this.syncing = false;
    }
    if (!this.synced) return;
    this.booted();
    this.parts.onUsable();
  }
}
