import fc from 'fast-check';
import type { Decision } from '../../src/core/index.js';
import { LimiterFactory, MemoryStore } from '../../src/core/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Algorithm, Answer, RuleAnswer, RuleNumbers } from '../model/model.js';
import { capacityOf } from '../model/model.js';

/** `SEED=random` or a number; a failure prints the seed that it needs to happen again. */
const seedGiven = process.env['SEED'] ?? '20260101';
const seed = seedGiven === 'random' ? Date.now() % 2 ** 31 : Number(seedGiven);

/** `LAWS_RUNS=20` makes twenty times as many runs of every law. */
const times = Number(process.env['LAWS_RUNS'] ?? 1);

export function holds<T>(numRuns: number, property: fc.IProperty<T>): void {
  fc.assert(property, { seed, numRuns: Math.ceil(numRuns * times) });
}

export async function holdsInTime<T>(
  numRuns: number,
  property: fc.IAsyncProperty<T>,
): Promise<void> {
  await fc.assert(property, { seed, numRuns: Math.ceil(numRuns * times) });
}

export const ALGORITHMS: readonly Algorithm[] = [
  'token-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-window-counter',
];

// ── rules ─────────────────────────────────────────────────────────────────────────────────────────

export function textOf(rules: readonly RuleNumbers[]): string {
  return rules
    .map(({ algorithm, limit, windowMillis, burst }) => {
      const start = `${algorithm},${limit},${windowMillis}ms`;
      return burst === undefined ? start : `${start},burst=${burst}`;
    })
    .join(' & ');
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

/** The rules whose numbers can be kept exactly; the others are refused when they are written. */
export function isKept(rule: RuleNumbers): boolean {
  const [limit, window] = [BigInt(rule.limit), BigInt(rule.windowMillis)];
  const edge = 1n << 53n;
  if (rule.algorithm === 'token-bucket') {
    const shared = gcd(limit, window);
    return (2n * BigInt(capacityOf(rule)) * window) / shared < edge && (4n * limit) / shared < edge;
  }
  return rule.algorithm !== 'sliding-window-counter' || limit * window < edge;
}

export const YEAR = 365 * 86_400_000;

const limits = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom(3, 7, 60, 97, 100, 999) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 1000 }) },
  { weight: 1, arbitrary: fc.constantFrom(999_983, 1_000_000) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_000_000 }) },
);

const windows = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 30 }) },
  { weight: 3, arbitrary: fc.constantFrom(7, 250, 1000, 10_000, 60_000, 3_600_000) },
  { weight: 2, arbitrary: fc.constantFrom(86_400_000, YEAR - 1, YEAR) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: YEAR }) },
);

/** As shares of the limit: smaller ones, the same, a little and far beyond it. */
const bursts = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, 1000, 1_000_003, 5_000_000_000) },
);

const uglyRules: readonly (readonly [number, number])[] = [
  [7, 1000],
  [3, 7],
  [999_983, 86_400_000],
  [1_000_000, 3_600_000],
  [1000, 7],
];

const numbers = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(limits, windows) },
  { weight: 1, arbitrary: fc.constantFrom(...uglyRules) },
);

export function rulesOf(...algorithms: readonly Algorithm[]): fc.Arbitrary<RuleNumbers> {
  return fc
    .tuple(fc.constantFrom(...algorithms), numbers, bursts)
    .map(([algorithm, [limit, windowMillis], burst]): RuleNumbers => {
      if (algorithm === 'token-bucket') return { algorithm, limit, windowMillis, burst };
      const kept = algorithm === 'sliding-window' ? Math.min(limit, 1000) : limit;
      return { algorithm, limit: kept, windowMillis };
    })
    .filter(isKept);
}

/** Two to four rules, often two of one algorithm and window, which must not share a counter. */
export const joinedRules: fc.Arbitrary<readonly RuleNumbers[]> = fc
  .tuple(
    fc.array(rulesOf(...ALGORITHMS), { minLength: 1, maxLength: 3 }),
    fc.option(fc.integer({ min: 1, max: 12 })),
    rulesOf(...ALGORITHMS),
  )
  .map(([rules, twin, other]) => {
    const [first = other] = rules;
    const last = twin === null ? other : { ...first, limit: twin };
    return [...rules, isKept(last) ? last : other];
  });

/** Where the numbers are largest, ugliest, or both. */
export const FAR_ENDS: readonly RuleNumbers[] = [
  { algorithm: 'token-bucket', limit: 7, windowMillis: 1000 },
  { algorithm: 'token-bucket', limit: 3, windowMillis: 7 },
  { algorithm: 'token-bucket', limit: 1_000_000, windowMillis: 3_600_000 },
  { algorithm: 'token-bucket', limit: 999_983, windowMillis: 86_400_000, burst: 50 },
  { algorithm: 'token-bucket', limit: 3, windowMillis: YEAR, burst: 142_000 },
  { algorithm: 'token-bucket', limit: 1, windowMillis: 1, burst: 2 ** 52 - 1 },
  {
    algorithm: 'token-bucket',
    limit: 2 ** 51 - 1,
    windowMillis: 1,
    burst: 2 ** 52 - 1,
  },
  { algorithm: 'token-bucket', limit: 2 ** 51 - 1, windowMillis: 7, burst: 643_371_375_338_641 },
  // only over what limit and window share are these small enough
  { algorithm: 'token-bucket', limit: 1_000_000, windowMillis: 86_400_000, burst: 1e13 },
  { algorithm: 'token-bucket', limit: 999_983, windowMillis: 1_000_003, burst: 4_503_586_116 },
  { algorithm: 'token-bucket', limit: 9_999_991, windowMillis: 1_000_003, burst: 4_503_586_116 },
  { algorithm: 'sliding-window', limit: 1000, windowMillis: 86_400_000 },
  { algorithm: 'sliding-window-counter', limit: 285_615, windowMillis: YEAR },
  { algorithm: 'sliding-window-counter', limit: 999_983, windowMillis: 1000 },
  { algorithm: 'sliding-window-counter', limit: 2 ** 53 - 1, windowMillis: 1 },
  { algorithm: 'sliding-window-counter', limit: 1_286_742_750_677_284, windowMillis: 7 },
  { algorithm: 'fixed-window', limit: 1_000_000, windowMillis: YEAR },
  { algorithm: 'fixed-window', limit: 2 ** 53 - 1, windowMillis: 1000 },
];

// ── what happens ──────────────────────────────────────────────────────────────────────────────────

/** The numbers from which the next wait and the next cost are taken. */
export interface Numbers {
  readonly remaining: number;
  readonly retryAfterMillis: number;
  readonly resetAfterMillis: number;
  readonly moreAfterMillis: number;
}

interface Situation {
  readonly rule: RuleNumbers;
  readonly now: number;
  readonly last: Numbers;
  readonly lastCost: number;
  /** A spare random number, 0 to 10^6. */
  readonly pick: number;
}

const share = (whole: number, pick: number) => Math.floor((whole * pick) / 1_000_000);
const toEdge = ({ rule, now }: Situation) => rule.windowMillis - (now % rule.windowMillis);

const WAITS = {
  none: () => 0,
  one: () => 1,
  few: ({ pick }: Situation) => pick % 6,
  retry: ({ last }: Situation) => last.retryAfterMillis,
  'just before retry': ({ last }: Situation) => last.retryAfterMillis - 1,
  more: ({ last }: Situation) => last.moreAfterMillis,
  'just before more': ({ last }: Situation) => last.moreAfterMillis - 1,
  reset: ({ last }: Situation) => last.resetAfterMillis,
  'just before reset': ({ last }: Situation) => last.resetAfterMillis - 1,
  edge: toEdge,
  'just before the edge': (situation: Situation) => toEdge(situation) - 1,
  'just after the edge': (situation: Situation) => toEdge(situation) + 1,
  token: ({ rule }: Situation) => Math.ceil(rule.windowMillis / rule.limit),
  part: ({ rule, pick }: Situation) => share(rule.windowMillis, pick),
  window: ({ rule }: Situation) => rule.windowMillis,
  windows: ({ rule, pick }: Situation) => rule.windowMillis * (pick % 9) + (pick % 3),
} satisfies Record<string, (situation: Situation) => number>;

const COSTS = {
  one: () => 1,
  zero: () => 0,
  few: ({ pick }: Situation) => pick % 5,
  again: ({ lastCost }: Situation) => lastCost,
  'all that is left': ({ last }: Situation) => last.remaining,
  'one too many': ({ last }: Situation) => last.remaining + 1,
  'all but one': ({ last }: Situation) => Math.max(0, last.remaining - 1),
  'part of what is left': ({ last, pick }: Situation) => share(last.remaining, pick),
  'part of all': ({ rule, pick }: Situation) => share(capacityOf(rule), pick),
  all: ({ rule }: Situation) => capacityOf(rule),
  'beyond all': ({ rule, pick }: Situation) => capacityOf(rule) + 1 + (pick % 3),
} satisfies Record<string, (situation: Situation) => number>;

export interface Step {
  readonly wait: keyof typeof WAITS;
  readonly cost: keyof typeof COSTS;
  readonly pick: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  wait: fc.oneof(
    { weight: 2, arbitrary: fc.constant('none' as const) },
    { weight: 3, arbitrary: fc.constantFrom(...(Object.keys(WAITS) as Step['wait'][])) },
  ),
  cost: fc.oneof(
    { weight: 1, arbitrary: fc.constant('one' as const) },
    { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(COSTS) as Step['cost'][])) },
  ),
  pick: fc.nat(1_000_000),
});

export const steps = fc.array(step, { maxLength: 40, size: 'max' });

export const starts = fc.oneof(
  fc.constantFrom(0, 1, 999, 2 ** 31 - 1, 2 ** 32, 1_767_225_599_999, 1_767_225_600_000),
  fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
);

/** The year 5138. What lies beyond, no clock of ours will show. */
const END_OF_TIME = 1e14;

/** Plays the steps; what `call` answers decides how long the next one waits and what it costs. */
export function play(
  rules: readonly RuleNumbers[],
  start: number,
  script: readonly Step[],
  call: (now: number, cost: number, step: Step) => Numbers,
): void {
  let now = start;
  let lastCost = 1;
  let last: Numbers = {
    remaining: Math.min(...rules.map(capacityOf)),
    retryAfterMillis: 0,
    resetAfterMillis: 0,
    moreAfterMillis: 0,
  };
  for (const step of script) {
    const rule = rules[step.pick % rules.length];
    if (rule === undefined) throw new Error('a policy has rules');
    const situation = { rule, now, last, lastCost, pick: step.pick };
    const wait = Math.max(0, WAITS[step.wait](situation));
    if (now + wait < END_OF_TIME) now += wait;
    lastCost = COSTS[step.cost]({ ...situation, now });
    last = call(now, lastCost, step);
  }
}

// ── the product ───────────────────────────────────────────────────────────────────────────────────

/** One key of the product, with a clock of its own. */
export interface Subject {
  readonly clock: FakeClock;
  tryAcquire(cost?: number): Decision;
  peek(cost?: number): Decision;
}

/**
 * Room for the keys of one run, with so much to spare that none gives way: a store of the usual
 * size, set aside anew for each of some thousand runs, would take most of the time.
 */
export function storeFor(keys: number): MemoryStore {
  return new MemoryStore({ maxKeys: 10_000 * keys });
}

export type Door = (rules: string, start: number) => Subject;

export const single: Door = (rules, start) => {
  const clock = new FakeClock(start);
  const limiter = new LimiterFactory(clock).create(rules);
  return {
    clock,
    tryAcquire: (cost) => limiter.tryAcquire(cost),
    peek: (cost) => limiter.peek(cost),
  };
};

export const keyed: Door = (rules, start) => {
  const clock = new FakeClock(start);
  const limiter = new LimiterFactory(clock, storeFor(1)).createKeyed(rules);
  return {
    clock,
    tryAcquire: (cost) => limiter.tryAcquire('alice', cost),
    peek: (cost) => limiter.peek('alice', cost),
  };
};

// ── what is compared ──────────────────────────────────────────────────────────────────────────────

function numbersLine(a: RuleAnswer): string {
  return (
    `${a.allowed ? 'yes' : 'no'} of ${a.limit} in ${a.windowMillis}: ${a.remaining} left, ` +
    `retry ${a.retryAfterMillis}, reset ${a.resetAfterMillis}, more ${a.moreAfterMillis}`
  );
}

/** An answer as one line of text, the model's and the product's alike. */
export function lineOf(answer: Decision | Answer): string {
  const rules = answer.rules ?? [];
  const parts = rules.length > 1 ? rules.map((rule) => ` [${numbersLine(rule)}]`) : [];
  return `${answer.reason ?? 'ok'} ${numbersLine(answer)}${parts.join('')}`;
}
