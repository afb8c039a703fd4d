import { BURSTY_BUCKET, TOKEN_BUCKET, UGLY_BUCKET } from './bucket-traces.js';

/** Each line: `at cost → allowed remaining retryAfter`, worked out by hand; `#` says how. */
export interface Trace {
  readonly rule: string;
  readonly lines: string;
}

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

export const TRACES: readonly Trace[] = [
  TOKEN_BUCKET,
  UGLY_BUCKET,
  BURSTY_BUCKET,
  FIXED_WINDOW,
  SLIDING_WINDOW,
  SLIDING_WINDOW_COUNTER,
  JOINED,
];

const withoutComment = (line: string) => line.replace(/#.*/, '').trim();

export function linesOf(trace: Trace): readonly string[] {
  return trace.lines.split('\n').map(withoutComment).filter(Boolean);
}
