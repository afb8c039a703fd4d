/*
 * A client that was refused and asks again need not be asked for at Redis: the numbers of its
 * counters are known, and time alone changes them to its advantage. So a refusal is repeated here
 * for as long as it would be one there, whatever the two clocks are apart; nobody is let in here.
 * At most for a second, so that a reset or a block's end by another process acts within that; what
 * this process changes is forgotten at once.
 */
import type { Cells, View } from '../../core/algorithms/index.js';
import type { Decision } from '../../core/decision.js';
import { decideTogether } from '../../core/joint-decision.js';
import type { RemoteCounter, RemotePlan } from './remote-counter.js';

const LONGEST_MILLIS = 1000;

interface Known {
  readonly of: RemotePlan;
  readonly cells: Cells;
  readonly cost: number;
  /** The store's time of these numbers. */
  readonly asOf: number;
  /** This process's monotonic clock, before and after that. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

export class RefusalMemory {
  private readonly known = new Map<string, Known>();
  private readonly view: View = { remaining: 0, resetAfter: 0, moreAfter: 0 };

  /** @param size how many counters at most; the oldest go first */
  constructor(private readonly size = 10_000) {}

  note(
    counters: readonly RemoteCounter[],
    cells: readonly Cells[],
    { cost, asOf, sentAt, receivedAt }: Pick<Known, 'cost' | 'asOf' | 'sentAt' | 'receivedAt'>,
  ): void {
    counters.forEach(({ key, of }, i) => {
      this.known.delete(key);
      const own = cells[i]!.slice(0, of.plan.algorithm.width);
      this.known.set(key, { of, cells: own, cost, asOf, sentAt, receivedAt });
    });
    for (const key of this.known.keys()) {
      if (this.known.size <= this.size) return;
      this.known.delete(key);
    }
  }

  forget(counters: readonly RemoteCounter[]): void {
    if (this.known.size === 0) return;
    for (const { key } of counters) this.known.delete(key);
  }

  /** A look under another rule may change what is stored: it cuts a moment that is too far ahead. */
  forgetOthers(counters: readonly RemoteCounter[]): void {
    if (this.known.size === 0) return;
    for (const { key, of } of counters) {
      if (this.known.get(key)?.of !== of) this.known.delete(key);
    }
  }

  clear(): void {
    this.known.clear();
  }

  /**
   * The refusal, if it is sure: at the latest time that the store's clock may show now. Its numbers
   * are those of the earliest.
   *
   * @param moment this process's monotonic clock
   * @param nowMillis the injected time, if the store goes by it
   */
  recall(
    counters: readonly RemoteCounter[],
    cost: number,
    moment: number,
    nowMillis: number | undefined,
  ): { decision: Decision; asOf: number } | undefined {
    if (this.known.size === 0) return undefined;
    const all: Known[] = [];
    let latest = nowMillis ?? 0;
    let earliest = nowMillis ?? Number.POSITIVE_INFINITY;
    for (const { key, of } of counters) {
      const known = this.known.get(key);
      if (!known || known.of !== of || known.cost !== cost) return undefined;
      if (moment - known.sentAt > LONGEST_MILLIS) return undefined;
      if (nowMillis === undefined) {
        latest = Math.max(latest, Math.ceil(known.asOf + 1 + moment - known.sentAt));
        earliest = Math.min(earliest, Math.floor(known.asOf + moment - known.receivedAt));
      }
      all.push(known);
    }
    const stillSo = all.every(({ of, cells, asOf }) => {
      const soon = latest - asOf <= LONGEST_MILLIS;
      return soon && latest >= asOf && latest < of.codec.knownUntil(cells);
    });
    if (!stillSo || this.decide(all, latest, cost).allowed) return undefined;
    return { decision: this.decide(all, earliest, cost), asOf: earliest };
  }

  private decide(all: readonly Known[], now: number, cost: number): Decision {
    const plans = all.map(({ of }) => of.plan);
    const cells = all.map((one) => one.cells);
    return decideTogether(plans, cells, now, cost, false, this.view);
  }
}
