import type { RedisConnection } from './connection.js';
import { Line, reachWith } from './line.js';
import { type Address, addressText, asError, readAddress } from './link.js';
import { type ClusterPlan, translate } from './plan.js';
import { SLOTS, slotOf } from './slot.js';

/** While a master cannot be reached the others are asked this often whether it has an heir. */
const REFRESH_MILLIS = 250;
/** Slots move one after the other: more than a few redirections are a cluster at odds with itself. */
const REDIRECTIONS = 5;

type SlotRange = [first: number, last: number, master: [host: string | null, port: number]];

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
    return this.masters.some((address) => this.lines.get(address)?.ready);
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }

  send(key: string, command: readonly string[]): Promise<unknown> {
    const slot = slotOf(key);
    const line = this.lines.get(this.slots[slot] ?? '');
    if (!line) return Promise.reject(new Error(`No node of the Redis cluster has slot ${slot}`));
    return line.send(key, command).catch((error) => this.redirect(error, key, command, line));
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
    key: string,
    command: readonly string[],
    sender: Line,
  ): Promise<unknown> {
    let [cause, from] = [error, sender];
    for (let i = 0; i < REDIRECTIONS && !this.closed; i++) {
      const [kind = '', , where = ''] = asError(cause).message.split(' ');
      if (kind === 'CLUSTERDOWN') this.mistrust();
      if (kind !== 'MOVED' && kind !== 'ASK') throw cause;
      const address = this.addressOf(where, from);
      if (kind === 'MOVED') this.moved(slotOf(key), address);
      const line = this.lineTo(address);
      await line.settled();
      try {
        if (kind === 'ASK') line.send(key, ['ASKING']).catch(() => {});
        return await line.send(key, command);
      } catch (next) {
        [cause, from] = [next, line];
      }
    }
    throw cause;
  }

  private moved(slot: number, address: Address): void {
    this.slots[slot] = addressText(address);
    this.mistrust();
  }

  /** An address without a host is on the host of the node that told it. */
  private addressOf(text: string, from: Line): Address {
    const at = text.lastIndexOf(':');
    const host = text.slice(0, at) || this.hostOf(from);
    return translate(this.plan.natMap, { host, port: Number(text.slice(at + 1)) });
  }

  private hostOf(line: Line): string {
    for (const [address, one] of this.lines) {
      if (one === line) return address.slice(0, address.lastIndexOf(':'));
    }
    return readAddress(0).host;
  }

  private lineTo(address: Address): Line {
    const text = addressText(address);
    const known = this.lines.get(text);
    if (known) return known;
    const { plan, onError } = this;
    const line = new Line(reachWith(plan.dial, address), { onError });
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

  /** Asks any node for the map, and again while masters of it are away. */
  private async refresh(): Promise<void> {
    const ready = [...this.lines.values()].filter((line) => line.ready);
    // Not always the same: it may be the one that is cut off from the others.
    const line = ready[Math.floor(Math.random() * ready.length)];
    if (this.closed || this.refreshing || !line) return;
    this.refreshing = true;
    clearTimeout(this.timer);
    try {
      this.apply((await line.send('', ['CLUSTER', 'SLOTS'])) as SlotRange[], line);
    } catch (error) {
      this.onError?.(asError(error));
    }
    this.refreshing = false;
    if (this.closed || !this.stale) return;
    this.timer = setTimeout(() => void this.refresh(), REFRESH_MILLIS);
  }

  private apply(ranges: readonly SlotRange[], teller: Line): void {
    if (this.closed || ranges.length === 0) return;
    const slots = Array<string>(SLOTS);
    const masters = new Map<string, Address>();
    for (const [first, last, [host, port]] of ranges) {
      const told = { host: host && host !== '?' ? host : this.hostOf(teller), port };
      const address = translate(this.plan.natMap, told);
      masters.set(addressText(address), address);
      slots.fill(addressText(address), first, last + 1);
    }
    this.slots = slots;
    this.masters = [...masters.keys()];
    this.stale = false;
    for (const address of masters.values()) {
      if (!this.lineTo(address).ready) this.stale = true;
    }
    for (const [text, line] of this.lines) {
      if (masters.has(text) || !line.idle) continue;
      this.lines.delete(text);
      line.close();
    }
    this.listener?.();
  }
}
