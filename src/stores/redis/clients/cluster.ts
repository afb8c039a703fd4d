import type { RedisConnection } from './connection.js';
import { Line } from './line.js';
import { type Address, addressText, asError, hostOf, reachWith } from './link.js';
import type { ClusterPlan } from './plan.js';
import { slotOf } from './slot.js';
import { readRedirection, readSlotMap } from './slot-map.js';

/** While a master cannot be reached the others are asked this often whether it has an heir. */
const REFRESH_MILLIS = 250;
/** Slots move one after the other: more than a few redirections are a cluster at odds with itself. */
const REDIRECTIONS = 5;

/**
 * A connection to every master of a cluster, and the map of slots. The libraries' own clusters send
 * a command again when its socket closed, keep it until a node is back, or retry a TRYAGAIN for
 * seconds; here it goes out once. Only MOVED and ASK are followed: they say that it did not act.
 */
export class ClusterConnection implements RedisConnection {
  readonly cluster = true;
  private readonly lines = new Map<string, Line>();
  private masters: string[] = [];
  /** The master of every slot; empty as long as nobody told. */
  private slots: string[] = [];
  private closed = false;
  /** Whether each master was tried once: before, a part of the keys would be refused at every start. */
  private begun = false;
  /** Whether the map may be out of date. */
  private stale = true;
  private refreshing = false;
  private timer: NodeJS.Timeout | undefined;
  private listener: (() => void) | undefined;

  constructor(
    private readonly plan: ClusterPlan,
    private readonly onError?: (error: Error) => void,
  ) {
    this.seed();
  }

  get ready(): boolean {
    return this.begun && this.masters.some((address) => this.lines.get(address)?.ready);
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }

  send(key: string, command: readonly string[]): Promise<unknown> {
    const slot = slotOf(key);
    const at = this.slots[slot] ?? '';
    const line = this.lines.get(at);
    if (!line) return Promise.reject(new Error(`No node of the Redis cluster has slot ${slot}`));
    return line.send(key, command).catch((error) => this.redirect(error, at, key, command));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.timer);
    for (const line of this.lines.values()) line.close();
    this.lines.clear();
    this.listener?.();
  }

  private async redirect(
    error: unknown,
    at: string,
    key: string,
    command: readonly string[],
  ): Promise<unknown> {
    let [cause, from] = [error, at];
    for (let i = 0; i < REDIRECTIONS && !this.closed; i++) {
      const { kind, address } = readRedirection(cause, hostOf(from), this.plan.natMap);
      if (kind === 'CLUSTERDOWN' || kind === 'MOVED') this.mistrust();
      if (!address) throw cause;
      if (kind === 'MOVED') this.slots[slotOf(key)] = addressText(address);
      const line = this.lineTo(address);
      await line.settled();
      try {
        if (kind === 'ASK') line.send(key, ['ASKING']).catch(() => {});
        return await line.send(key, command);
      } catch (next) {
        [cause, from] = [next, addressText(address)];
      }
    }
    throw cause;
  }

  private lineTo(address: Address): Line {
    const text = addressText(address);
    const known = this.lines.get(text);
    if (known) return known;
    const line = new Line(reachWith(this.plan.dial, address), { onError: this.onError });
    this.lines.set(text, line);
    line.onChange(() => this.lineChanged());
    return line;
  }

  private lineChanged(): void {
    if (this.closed) return;
    if (this.masters.some((address) => !this.lines.get(address)?.ready)) this.stale = true;
    if (!this.ready) this.seed();
    if (this.stale) void this.refresh();
    this.listener?.();
  }

  /** Whoever is named in the options may know the others. */
  private seed(): void {
    for (const seed of this.plan.seeds) this.lineTo(seed);
  }

  private mistrust(): void {
    this.stale = true;
    void this.refresh();
  }

  private async begin(): Promise<void> {
    await Promise.all(this.masters.map((address) => this.lines.get(address)?.settled()));
    this.begun = true;
    this.listener?.();
  }

  /** Asks any node for the map, and again while masters of it are away. */
  private async refresh(): Promise<void> {
    const ready = [...this.lines].filter(([, line]) => line.ready);
    // Not always the same: it may be the one that is cut off from the others.
    const teller = ready[Math.floor(Math.random() * ready.length)];
    if (this.closed || this.refreshing || !teller) return;
    const [at, line] = teller;
    this.refreshing = true;
    clearTimeout(this.timer);
    try {
      this.apply(await line.send('', ['CLUSTER', 'SLOTS']), hostOf(at));
    } catch (error) {
      if (!this.closed) this.onError?.(asError(error));
    }
    this.refreshing = false;
    if (this.closed || !this.stale) return;
    this.timer = setTimeout(() => void this.refresh(), REFRESH_MILLIS);
  }

  private apply(reply: unknown, host: string): void {
    const { slots, masters } = readSlotMap(reply, host, this.plan.natMap);
    if (this.closed || masters.size === 0) return;
    this.slots = slots;
    this.masters = [...masters.keys()];
    this.stale = false;
    for (const address of masters.values()) {
      if (!this.lineTo(address).ready) this.stale = true;
    }
    if (!this.begun) void this.begin();
    for (const [text, line] of [...this.lines]) {
      if (masters.has(text) || !line.idle) continue;
      this.lines.delete(text);
      line.onChange(() => {});
      line.close();
    }
    this.listener?.();
  }
}
