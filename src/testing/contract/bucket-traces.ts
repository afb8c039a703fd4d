import type { Trace } from './traces.js';

export const TOKEN_BUCKET: Trace = {
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

export const UGLY_BUCKET: Trace = {
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

export const BURSTY_BUCKET: Trace = {
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
