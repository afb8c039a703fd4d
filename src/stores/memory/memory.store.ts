import type { Cells } from '../../core/algorithms/index.js';
import type { Counter, CounterPlan } from '../../core/counter-plan.js';
import { blockedDecision, type CounterState, decideAll } from '../../core/decision.js';
import { encodeParts } from '../../core/identity.js';
import { type Outcome, type Receipt, type StoreEntry, SynchronousStore } from '../../core/store.js';

interface Slot extends CounterState {
  readonly key: string;
}

/** Counters in this process. */
export class MemoryStore extends SynchronousStore {
  readonly name = 'memory';
  private readonly cells = new Map<string, Cells>();
  private readonly blocks = new Map<string, number>();

  decide(entries: readonly StoreEntry[], nowMillis: number): readonly Outcome[] {
    return entries.map((entry) => ({
      entry,
      takenAtMillis: nowMillis,
      decision: this.decideEntry(entry, nowMillis),
    }));
  }

  settle({ entry, takenAtMillis }: Receipt, delta: number, nowMillis: number): number {
    let dropped = 0;
    for (const { plan, cells, at, key } of entry.counters.map((one) => this.slot(one))) {
      if (delta < 0) plan.algorithm.giveBack(cells, at, nowMillis, -delta, takenAtMillis);
      else if (delta > 0) {
        dropped = Math.max(dropped, delta - plan.algorithm.charge(cells, at, nowMillis, delta));
      }
      this.keep(key, plan, cells, nowMillis);
    }
    return dropped;
  }

  reset(counters: readonly Counter[]): void {
    for (const counter of counters) this.cells.delete(keyOf(counter));
  }

  block(counters: readonly Counter[], untilMillis: number, nowMillis: number): void {
    for (const counter of counters) {
      if (untilMillis > nowMillis) this.blocks.set(keyOf(counter), untilMillis);
      else this.blocks.delete(keyOf(counter));
    }
  }

  override close(): void {
    this.cells.clear();
    this.blocks.clear();
  }

  private decideEntry({ counters, cost, mode }: StoreEntry, now: number) {
    const slots = counters.map((counter) => this.slot(counter));
    const blockedFor = cost > 0 && this.blocks.size > 0 ? this.blockedFor(slots, now) : 0;
    const take = mode === 'take' && blockedFor === 0;
    const decision = decideAll(slots, now, cost, take);
    if (take) for (const { key, plan, cells } of slots) this.keep(key, plan, cells, now);
    return blockedFor > 0 ? blockedDecision(decision, blockedFor) : decision;
  }

  private slot(counter: Counter): Slot {
    const { plan } = counter;
    const key = keyOf(counter);
    const found = this.cells.get(key) ?? new Float64Array(plan.algorithm.width);
    const fits = found.length === plan.algorithm.width;
    return { key, plan, cells: fits ? found : plan.algorithm.resize(found), at: 0 };
  }

  /** A counter as good as new is as good as none. */
  private keep(key: string, plan: CounterPlan, cells: Cells, now: number): void {
    if (plan.algorithm.freshAt(cells, 0) > now) this.cells.set(key, cells);
    else this.cells.delete(key);
  }

  private blockedFor(slots: readonly Slot[], now: number): number {
    return Math.max(0, ...slots.map(({ key }) => (this.blocks.get(key) ?? 0) - now));
  }
}

function keyOf({ plan, values }: Counter): string {
  return encodeParts([plan.id, ...values]);
}
