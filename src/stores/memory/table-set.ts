import type { CounterPlan } from '../../core/counter-plan.js';
import { CounterTable } from './counter-table.js';

/** Where the counters of one plan live, and where those live that it kept under other limits. */
export interface Home {
  readonly table: CounterTable;
  readonly older: readonly CounterTable[];
}

/**
 * A table for each width of counters, made when the first of them is met. Counters of two or three
 * numbers have `maxKeys` slots; a log of n times counts as ⌈n/3⌉, so its table has as many fewer.
 */
export class TableSet {
  private readonly tables = new Map<number, CounterTable>();
  private homes = new WeakMap<CounterPlan, Home>();
  /** The widths that plans of one id had: a log's follows its limit. */
  private readonly widths = new Map<string, number[]>();

  constructor(
    private readonly maxKeys: number,
    private readonly onEviction: (atLimit: boolean) => void,
  ) {}

  homeOf(plan: CounterPlan): Home {
    const { note } = plan;
    if (note.owner === this) return note.content as Home;
    let home = this.homes.get(plan);
    if (!home) {
      home = this.newHome(plan);
      this.homes.set(plan, home);
    }
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

  private newHome({ id, algorithm }: CounterPlan): Home {
    const { width, weight } = algorithm;
    let table = this.tables.get(width);
    if (!table) {
      const capacity = Math.max(1, Math.floor(this.maxKeys / weight));
      table = new CounterTable(width, capacity, this.onEviction);
      this.tables.set(width, table);
    }
    const widths = (this.widths.get(id) ?? []).filter((one) => one !== width);
    this.widths.set(id, [...widths, width]);
    return { table, older: widths.map((one) => this.tables.get(one)!) };
  }
}
