import type { Door } from './support.js';
import { keyed, single } from './support.js';

/** Each line: `at cost → allowed remaining retryAfter`, worked out by hand; `#` says how. */
interface Trace {
  readonly rule: string;
  readonly lines: string;
}

const TOKEN_BUCKET: Trace = {
  rule: 'token-bucket,5,10',
  lines: `
         0 1 → yes 4 0
         0 1 → yes 3 0
         0 1 → yes 2 0
         0 1 → yes 1 0
         0 1 → yes 0 0
         0 1 → no 0 2000
         0 3 → no 0 6000
         0 6 → no 0 never
      1999 1 → no 0 1
      2000 1 → yes 0 0
      2000 0 → yes 0 0
      5000 2 → no 1 1000     # holds 1.5
      6000 2 → yes 0 0
     13000 1 → yes 2 0       # holds 3.5, then 2.5
     13000 3 → no 2 1000
     14000 3 → yes 0 0
     99999 5 → yes 0 0
     99999 1 → no 0 2000
  `,
};

const UGLY_BUCKET: Trace = {
  rule: 'token-bucket,7,1000ms',
  lines: `
         0 7 → yes 0 0
         0 1 → no 0 143
       142 1 → no 0 1        # earned 0.994
       143 1 → yes 0 0       # earned 1.001
       285 1 → no 0 1        # earned 1.995
       286 1 → yes 0 0       # earned 2.002
       428 1 → no 0 1        # earned 2.996
       429 1 → yes 0 0       # earned 3.003
       571 1 → no 0 1        # earned 3.997
       572 1 → yes 0 0       # earned 4.004
      1000 4 → no 3 143      # earned 7 exactly, of which 4 are gone
      1000 3 → yes 0 0
      1000 1 → no 0 143
      2000 7 → yes 0 0
      2999 7 → no 6 1
      3000 7 → yes 0 0
  `,
};

const BURSTY_BUCKET: Trace = {
  rule: 'token-bucket,2,1,burst=6',
  lines: `
         0 6 → yes 0 0
         0 6 → no 0 3000
         0 7 → no 0 never
       499 1 → no 0 1
       500 1 → yes 0 0
      2750 5 → no 4 250      # holds 4.5
      3000 5 → yes 0 0
      3250 1 → no 0 250
      6000 0 → yes 6 0
      6000 1 → yes 5 0
      6000 6 → no 5 500
      9000 6 → yes 0 0
  `,
};

const FIXED_WINDOW: Trace = {
  rule: 'fixed-window,3,10',
  lines: `
      9000 1 → yes 2 0
      9000 2 → yes 0 0       # three at 9.0 s …
      9000 1 → no 0 1000
      9999 1 → no 0 1
     10000 3 → yes 0 0       # … and three at 10.0 s: the known weakness
     10000 1 → no 0 10000
     15000 2 → no 0 5000
     15000 4 → no 0 never
     19999 1 → no 0 1
     20000 1 → yes 2 0
     25000 3 → no 2 5000
     25000 2 → yes 0 0
     25000 0 → yes 0 0
     30000 0 → yes 3 0
  `,
};

const SLIDING_WINDOW: Trace = {
  rule: 'sliding-window,3,10',
  lines: `
      1000 1 → yes 2 0
      4000 1 → yes 1 0
      9000 1 → yes 0 0
      9000 1 → no 0 2000     # when that of 1000 leaves
      9000 2 → no 0 5000     # when that of 4000 leaves
      9000 3 → no 0 10000    # when that of 9000 leaves
     10999 1 → no 0 1
     11000 1 → yes 0 0
     11000 1 → no 0 3000
     14000 2 → no 1 5000
     19000 2 → yes 0 0       # 11000, 19000, 19000
     21000 1 → yes 0 0
     21000 4 → no 0 never
     29000 2 → yes 0 0
     30999 1 → no 0 1
     50000 0 → yes 3 0
  `,
};

const SLIDING_WINDOW_COUNTER: Trace = {
  rule: 'sliding-window-counter,4,10',
  lines: `
      9000 4 → yes 0 0
      9000 1 → no 0 3500     # at 12500: 4 × 0.75 + 1 = 4
     10000 1 → no 0 2500
     12499 1 → no 0 1
     12500 1 → yes 0 0
     15000 1 → yes 0 0       # 4 × 0.5 + 2 = 4
     15000 1 → no 0 2500     # at 17500: 4 × 0.25 + 3 = 4
     15000 3 → no 0 10000    # in the next window, at 25000: 2 × 0.5 + 3 = 4
     20000 2 → yes 0 0       # 2 + 2
     20000 1 → no 0 5000
     25000 1 → yes 0 0       # 2 × 0.5 + 3 = 4
     30000 1 → yes 0 0       # 3 + 1
     30000 2 → no 0 6667     # 3 × 0.3333 + 3 ≤ 4
     36666 2 → no 1 1
     36667 2 → yes 0 0
     90000 5 → no 4 never
     90000 4 → yes 0 0
  `,
};

const JOINED: Trace = {
  rule: 'token-bucket,3,3 & fixed-window,5,60',
  lines: `
         0 3 → yes 0 0       # bucket 0, window 2
         0 1 → no 0 1000     # the bucket's wait
      1000 1 → yes 0 0       # bucket 0, window 1: the refusal took nothing
      1000 2 → no 0 59000    # bucket in 2000, window in 59000
      3000 1 → yes 0 0       # bucket 1, window 0
      3000 1 → no 0 57000
     59999 1 → no 0 1
     60000 4 → no 3 never    # beyond the bucket, though not beyond the window
     60000 3 → yes 0 0
     63000 3 → no 2 57000
     63000 2 → yes 0 0
  `,
};

const TRACES = [
  TOKEN_BUCKET,
  UGLY_BUCKET,
  BURSTY_BUCKET,
  FIXED_WINDOW,
  SLIDING_WINDOW,
  SLIDING_WINDOW_COUNTER,
  JOINED,
];

/** Midnights of two worlds: the epoch, and the first of January 2026. */
const MIDNIGHTS = [0, 1_767_225_600_000];

interface Call {
  readonly at: number;
  readonly cost: number;
}

interface Told {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterMillis: number;
}

const withoutComment = (line: string) => line.replace(/#.*/, '').trim();

function linesOf(trace: Trace): readonly string[] {
  return trace.lines.split('\n').map(withoutComment).filter(Boolean);
}

function replayed(trace: Trace, answer: (call: Call) => Told): readonly string[] {
  return linesOf(trace).map((line) => {
    const [at, cost] = line.split(' ');
    const told = answer({ at: Number(at), cost: Number(cost) });
    const retry = Number.isFinite(told.retryAfterMillis) ? told.retryAfterMillis : 'never';
    return `${at} ${cost} → ${told.allowed ? 'yes' : 'no'} ${told.remaining} ${retry}`;
  });
}

function throughDoor(trace: Trace, door: Door, midnight: number): readonly string[] {
  const subject = door(trace.rule, midnight);
  return replayed(trace, ({ at, cost }) => {
    subject.clock.set(midnight + at);
    return subject.tryAcquire(cost);
  });
}

describe.each(MIDNIGHTS)('from midnight at %d on, the golden trace', (midnight) => {
  it.each(TRACES)('of $rule is what a limiter says', (trace) => {
    expect(throughDoor(trace, single, midnight)).toEqual(linesOf(trace));
  });

  it.each(TRACES)('of $rule is what a keyed limiter says', (trace) => {
    expect(throughDoor(trace, keyed, midnight)).toEqual(linesOf(trace));
  });
});
