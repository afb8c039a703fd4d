import { type Counter, MemoryStore, type Outcome, type Receipt } from '../../src/core/index.js';
import { RateLimitStore, type StoreEntry } from '../../src/core/store.js';

/** A store over a memory store, of which each faulty one does something wrong. */
export class Wrapped extends RateLimitStore {
  readonly name: string = 'wrapped';
  protected readonly inner = new MemoryStore({ maxKeys: 1000 });

  async decide(entries: readonly StoreEntry[], now: number): Promise<readonly Outcome[]> {
    return this.inner.decide(entries, now);
  }

  async settle(receipt: Receipt, delta: number, now: number): Promise<number> {
    return this.inner.settle(receipt, delta, now);
  }

  async reset(counters: readonly Counter[]): Promise<void> {
    this.inner.reset(counters);
  }

  async block(counters: readonly Counter[], until: number, now: number): Promise<void> {
    this.inner.block(counters, until, now);
  }

  override close(): void {
    this.inner.close();
  }
}

/** Changes what is decided. */
const deciding = (change: (outcome: Outcome, store: MemoryStore, now: number) => Outcome) =>
  class extends Wrapped {
    override async decide(entries: readonly StoreEntry[], now: number) {
      return this.inner.decide(entries, now).map((outcome) => change(outcome, this.inner, now));
    }
  };

/** Changes what is asked. */
const asking = (change: (entry: StoreEntry) => StoreEntry) =>
  class extends Wrapped {
    override async decide(entries: readonly StoreEntry[], now: number) {
      const outcomes = this.inner.decide(entries.map(change), now);
      return outcomes.map((outcome, i) => ({ ...outcome, entry: entries[i]! }));
    }
  };

const withDecision = (outcome: Outcome, fields: Partial<Outcome['decision']>): Outcome => ({
  ...outcome,
  decision: { ...outcome.decision, ...fields },
});

const valuesAs = (text: (values: readonly string[]) => string) =>
  asking((entry) => ({
    ...entry,
    counters: entry.counters.map(({ plan, values }) => ({ plan, values: [text(values)] })),
  }));

/** Reads, waits a moment, and writes: others come in between. */
class Racing extends Wrapped {
  override async decide(entries: readonly StoreEntry[], now: number) {
    const peeks = entries.map((entry) => ({ ...entry, mode: 'peek' as const }));
    const peeked = this.inner.decide(peeks, now);
    await undefined;
    return peeked.map(({ decision }, i) => {
      const entry = entries[i]!;
      if (decision.allowed) this.inner.decide([entry], now);
      return { entry, decision, takenAtMillis: now };
    });
  }
}

/** Takes from joined counters one after another, and keeps what it took before one refused. */
class Piecemeal extends Wrapped {
  override async decide(entries: readonly StoreEntry[], now: number) {
    return entries.map((entry) => {
      const [peeked] = this.inner.decide([{ ...entry, mode: 'peek' }], now);
      for (const counter of entry.counters) {
        const [part] = this.inner.decide([{ ...entry, counters: [counter] }], now);
        if (!part!.decision.allowed) break;
      }
      return { ...peeked!, entry };
    });
  }
}

class Reversed extends Wrapped {
  override async decide(entries: readonly StoreEntry[], now: number) {
    return [...this.inner.decide([...entries].reverse(), now)].reverse();
  }
}

class Coarse extends Wrapped {
  override async decide(entries: readonly StoreEntry[], now: number) {
    return super.decide(entries, now - (now % 1000));
  }
}

/** As with a database whose longest lifetime is a day. */
class Forgetful extends Wrapped {
  private touched = 0;

  override async decide(entries: readonly StoreEntry[], now: number) {
    if (now - this.touched >= 86_400_000) {
      for (const { counters } of entries) this.inner.reset(counters);
    }
    this.touched = now;
    return super.decide(entries, now);
  }
}

/** Each faulty store, and words of the cases that find it. */
export const FAULTY: readonly (readonly [
  what: string,
  store: new () => Wrapped,
  caught: RegExp,
])[] = [
  [
    'has no name',
    class extends Wrapped {
      override readonly name = '';
    },
    /^is a RateLimitStore with a name$/,
  ],
  [
    'forgets to give back',
    class extends Wrapped {
      override settle = async (receipt: Receipt, delta: number, now: number) =>
        delta < 0 ? 0 : this.inner.settle(receipt, delta, now);
    },
    /gives back what was taken/,
  ],
  [
    'forgets to charge',
    class extends Wrapped {
      override settle = async (receipt: Receipt, delta: number, now: number) =>
        delta > 0 ? 0 : this.inner.settle(receipt, delta, now);
    },
    /charges more than was taken/,
  ],
  [
    'gives back whenever the take was',
    class extends Wrapped {
      override settle = async ({ entry }: Receipt, delta: number, now: number) =>
        this.inner.settle({ entry, takenAtMillis: now }, delta, now);
    },
    /none of a later window away|given back after/,
  ],
  [
    'tells nothing of what it dropped',
    class extends Wrapped {
      override settle = async (receipt: Receipt, delta: number, now: number) => {
        this.inner.settle(receipt, delta, now);
        return 0;
      };
    },
    /tells what it dropped/,
  ],
  [
    'settles the first counter alone',
    class extends Wrapped {
      override settle = async ({ entry, takenAtMillis }: Receipt, delta: number, now: number) => {
        const first = { ...entry, counters: entry.counters.slice(0, 1) };
        return this.inner.settle({ entry: first, takenAtMillis }, delta, now);
      };
    },
    /reaches every counter/,
  ],
  [
    'spends on a refusal',
    deciding((outcome, store, now) => {
      const { entry, decision } = outcome;
      if (entry.mode === 'take' && decision.reason === 'quota' && decision.remaining > 0) {
        store.decide([{ ...entry, cost: 1 }], now);
      }
      return outcome;
    }),
    /a refusal changes nothing/,
  ],
  ['takes from joined rules as far as they go', Piecemeal, /joined rules take all or none/],
  [
    'takes on a peek',
    asking((entry) => ({ ...entry, mode: 'take' })),
    /a peek answers as the take/,
  ],
  [
    'takes at least one',
    asking((entry) => ({ ...entry, cost: Math.max(1, entry.cost) })),
    /cost of 0/,
  ],
  ['lets concurrent calls pass each other', Racing, /concurrent calls let in exactly the limit/],
  ['decides the last entry first', Reversed, /entries of one call in their order/],
  [
    'tells seconds for its hints',
    deciding((outcome) =>
      withDecision(outcome, {
        retryAfterMillis: Math.ceil(outcome.decision.retryAfterMillis / 1000) * 1000,
      }),
    ),
    /the hint of a refusal is true/,
  ],
  ['knows whole seconds of time', Coarse, /receipt|golden trace/],
  [
    'tells one less than remains',
    deciding((outcome) =>
      withDecision(outcome, {
        remaining: Math.max(0, outcome.decision.remaining - 1),
      }),
    ),
    /golden trace/,
  ],
  [
    'always tells that it is fresh',
    deciding((outcome) =>
      withDecision(outcome, {
        resetAfterMillis: 0,
      }),
    ),
    /tells all numbers/,
  ],
  ['joins values with a bar', valuesAs((values) => values.join('|')), /tells all values apart/],
  ['ignores case', valuesAs((values) => JSON.stringify(values).toLowerCase()), /values apart/],
  [
    'writes values as UTF-8',
    valuesAs((values) =>
      Buffer.from(
        JSON.stringify(values.map((one) => (one.length < 9 ? [...Buffer.from(one)] : one))),
      ).toString(),
    ),
    /values apart/,
  ],
  [
    'resets nothing',
    class extends Wrapped {
      override reset = async () => undefined;
    },
    /a reset makes a counter as good as new/,
  ],
  [
    'lifts a block on a reset',
    class extends Wrapped {
      override reset = async (counters: readonly Counter[]) => {
        this.inner.reset(counters);
        this.inner.block(counters, 0, 0);
      };
    },
    /a reset leaves a block standing/,
  ],
  [
    'blocks nothing',
    class extends Wrapped {
      override block = async () => undefined;
    },
    /a block refuses until its end/,
  ],
  [
    'never unblocks',
    class extends Wrapped {
      override block = async (counters: readonly Counter[], until: number, now: number) =>
        until === 0 ? undefined : this.inner.block(counters, until, now);
    },
    /a block ends early/,
  ],
  ['keeps nothing for longer than a day', Forgetful, /a year and of a millisecond/],
  [
    'answers once for all',
    class extends Wrapped {
      override decide = async (entries: readonly StoreEntry[], now: number) =>
        this.inner.decide(entries, now).slice(0, 1);
    },
    /entries of one call/,
  ],
];
