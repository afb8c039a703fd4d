import type { Algorithm } from '../../core/algorithms/index.js';
import type { CounterPlan } from '../../core/counter-plan.js';
import { CounterTable } from './counter-table.js';

/** Where the counters of one id live; shared by all plans that have it. */
export interface Home {
  /** For the largest limit that was seen: what was let in under it is kept when it shrinks. */
  table: CounterTable;
  /** Tables of smaller limits, from which counters move in when they are met. */
  older: readonly CounterTable[];
}

/**
 * A table for each width of counters, made when the first of them is met. Counters of two or three
 * numbers have `maxKeys` slots; a log of n times counts as ⌈n/3⌉, so its table has as many fewer.
 */
export class TableSet {
  private readonly tables = new Map<number, CounterTable>();
  private readonly homes = new Map<string, Home>();

  constructor(
    private readonly maxKeys: number,
    private readonly onEviction: (atLimit: boolean) => void,
  ) {}

  homeOf(plan: CounterPlan): Home {
    const { note } = plan;
    if (note.owner === this) return note.content as Home;
    const home = this.settle(plan);
    note.owner = this;
    note.content = home;
    return home;
  }

  /** Live counters of all tables. */
  inUse(now: number): number {
    let live = 0;
    for (const table of this.tables.values()) live += table.inUse(now);
    return live;
  }

  /** Bytes of all tables, whether touched yet or not. */
  get bytes(): number {
    let bytes = 0;
    for (const table of this.tables.values()) bytes += table.bytes;
    return bytes;
  }

  private settle({ id, algorithm }: CounterPlan): Home {
    const home = this.homes.get(id);
    if (!home) {
      const first = { table: this.table(algorithm.width, algorithm), older: [] };
      this.homes.set(id, first);
      return first;
    }
    if (home.table.width < algorithm.width) {
      home.older = [home.table, ...home.older];
      home.table = this.table(algorithm.width, algorithm);
    }
    return home;
  }

  private table(width: number, { weight }: Algorithm): CounterTable {
    let table = this.tables.get(width);
    if (!table) {
      const capacity = Math.max(1, Math.floor(this.maxKeys / weight));
      table = new CounterTable(width, capacity, this.onEviction);
      this.tables.set(width, table);
    }
    return table;
  }
}
