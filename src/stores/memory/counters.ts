import type { Cells, View } from '../../core/algorithms/index.js';
import type { Counter, CounterPlan } from '../../core/counter-plan.js';
import {
  askRule,
  type Decision,
  decisionOf,
  joinDecisions,
  type RuleDecision,
  ruleDecisionOf,
} from '../../core/decision.js';
import { KeyedHash } from '../../core/keyed-hash.js';
import { type Home, TableSet } from './table-set.js';

/**
 * Counters by the hash of what they count: finds the slot of a counter, asks its rule, takes. One
 * counter is located at a time; its hash and slot stay in fields, so that no object is made on the
 * way to the decision.
 */
export class Counters {
  private readonly tables: TableSet;
  private readonly hash: KeyedHash;
  private readonly view: View = { remaining: 0, resetAfter: 0, moreAfter: 0 };
  /** The slot of the counter that was located last; -1 when it was never used. */
  private slot = -1;
  /** Whose counter that is, if it was asked by key: who comes again at once needs no hash. */
  private lastKey = '';
  private lastPlan: CounterPlan | undefined;
  /** The cells of any counter that was never used. */
  private fresh: Cells = new Float64Array(8);

  constructor(maxKeys: number, onEviction: (atLimit: boolean) => void) {
    this.tables = new TableSet(maxKeys, onEviction);
    const [k0 = 0, k1 = 0] = crypto.getRandomValues(new Int32Array(2));
    this.hash = new KeyedHash(k0, k1);
  }

  get bytes(): number {
    return this.tables.bytes;
  }

  inUse(now: number): number {
    return this.tables.inUse(now);
  }

  /** Decides by one counter of one value. */
  decideKey(plan: CounterPlan, key: string, cost: number, take: boolean, now: number): Decision {
    const home = this.tables.homeOf(plan);
    if (key !== this.lastKey || plan !== this.lastPlan || !this.stillThere(home)) {
      this.hash.one(plan.seedLo, plan.seedHi, key);
      this.slot = this.find(home, plan, now);
      this.lastKey = key;
      this.lastPlan = plan;
    }
    const wait = this.ask(home, plan, cost, take, now);
    return decisionOf(plan, wait, this.view);
  }

  /** Decides by all counters together: asks all first and takes after, so all spend or none. */
  decide(counters: readonly Counter[], cost: number, take: boolean, now: number): Decision {
    if (counters.length === 1) {
      const { plan } = counters[0]!;
      const wait = this.ask(this.locate(counters[0]!, now), plan, cost, take, now);
      return decisionOf(plan, wait, this.view);
    }
    let taking = take;
    for (let i = 0; i < counters.length && taking; i++) {
      taking = this.ask(this.locate(counters[i]!, now), counters[i]!.plan, cost, false, now) === 0;
    }
    const rules: RuleDecision[] = [];
    for (let i = 0; i < counters.length; i++) {
      const { plan } = counters[i]!;
      const wait = this.ask(this.locate(counters[i]!, now), plan, cost, taking, now);
      rules.push(ruleDecisionOf(plan, wait, this.view));
    }
    return joinDecisions(rules);
  }

  giveBack(counter: Counter, count: number, takenAt: number, now: number): void {
    const home = this.locate(counter, now);
    if (this.slot < 0) return;
    const { table } = home;
    counter.plan.algorithm.giveBack(table.cells, table.cellsOf(this.slot), now, count, takenAt);
    this.ask(home, counter.plan, 0, false, now);
  }

  /** Charges what may not fit; answers how much of it was dropped. */
  charge(counter: Counter, count: number, now: number): number {
    const home = this.locate(counter, now);
    const { table } = home;
    if (this.slot < 0) this.slot = table.claim(this.hash.lo, this.hash.hi, now);
    const at = table.cellsOf(this.slot);
    const charged = counter.plan.algorithm.charge(table.cells, at, now, count);
    this.ask(home, counter.plan, 0, false, now);
    return count - charged;
  }

  reset(counter: Counter): void {
    const { table, older } = this.hashOf(counter);
    for (const one of [table, ...older]) {
      const slot = one.find(this.hash.lo, this.hash.hi);
      if (slot >= 0) one.free(slot);
    }
  }

  /**
   * Asks the counter that was just located; `view` tells how it stands. One that was never used
   * gets a slot only when something is taken, which then fits.
   */
  private ask(home: Home, plan: CounterPlan, cost: number, take: boolean, now: number): number {
    const { table } = home;
    const { view } = this;
    if (this.slot < 0) {
      const fits = cost > 0 && cost <= plan.algorithm.capacity;
      if (!take || !fits) return askRule(plan, this.freshCells(plan), 0, now, cost, false, view);
      this.slot = table.claim(this.hash.lo, this.hash.hi, now);
    }
    const { slot } = this;
    const wait = askRule(plan, table.cells, table.cellsOf(slot), now, cost, take, view);
    table.mark(slot, view.remaining === 0);
    return wait;
  }

  private locate(counter: Counter, now: number): Home {
    const home = this.hashOf(counter);
    this.slot = this.find(home, counter.plan, now);
    return home;
  }

  private hashOf({ plan, values }: Counter): Home {
    this.lastPlan = undefined;
    this.hash.many(plan.seedLo, plan.seedHi, values);
    return this.tables.homeOf(plan);
  }

  /** Whether the slot that was located last still belongs to its hash. */
  private stillThere({ table }: Home): boolean {
    return this.slot >= 0 && table.holds(this.slot, this.hash.lo, this.hash.hi);
  }

  /** The slot of the hash; a log that was kept under a smaller limit moves in. -1: never used. */
  private find({ table, older }: Home, { algorithm }: CounterPlan, now: number): number {
    const { lo, hi } = this.hash;
    const slot = table.find(lo, hi);
    if (slot >= 0 || older.length === 0) return slot;
    for (const other of older) {
      const from = other.find(lo, hi);
      const oldAt = other.cellsOf(from);
      if (from < 0 || other.cells[oldAt]! <= now) continue;
      const to = table.claim(lo, hi, now);
      algorithm.resize(other.cells, oldAt, table.cells, table.cellsOf(to));
      other.free(from);
      return to;
    }
    return -1;
  }

  private freshCells({ algorithm }: CounterPlan): Cells {
    if (this.fresh.length < algorithm.width) this.fresh = new Float64Array(algorithm.width);
    return this.fresh;
  }
}
