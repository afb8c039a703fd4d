import type { Texts } from './deeds.js';

/** What the Redis store and the memory store are compared under; lists are reloads of one place. */
export const RULES: Readonly<Record<string, readonly Texts[]>> = {
  'token buckets': [
    'token-bucket,5,10',
    'token-bucket,7,1,burst=3',
    'token-bucket,1000,7ms',
    'token-bucket,3,365d',
    'token-bucket,999983,1d,burst=50',
  ],
  'fixed windows': ['fixed-window,3,2', 'fixed-window,1,1ms', 'fixed-window,2000000,1d'],
  'sliding windows': ['sliding-window,5,2', 'sliding-window,1,50ms', 'sliding-window,40,1m'],
  counters: [
    'sliding-window-counter,4,1',
    'sliding-window-counter,100,7ms',
    'sliding-window-counter,7,3ms',
  ],
  'joined rules': [
    'token-bucket,5,10 & fixed-window,8,20',
    'sliding-window,3,2 & sliding-window-counter,5,3 & token-bucket,4,1',
    'fixed-window,4,2',
    'token-bucket,3,1 & token-bucket,20,1 & sliding-window,900,1m',
  ],
  'rules reloaded': [
    [
      'token-bucket,5,1s',
      'token-bucket,7,1s',
      'token-bucket,999983,1s',
      'token-bucket,1,1s,burst=9',
    ],
    ['fixed-window,3,2', 'fixed-window,9,2', 'fixed-window,1,2', 'fixed-window,2000000,2'],
    ['sliding-window,5,2', 'sliding-window,20,2', 'sliding-window,1,2', 'sliding-window,7,2'],
    ['sliding-window-counter,4,1', 'sliding-window-counter,40,1', 'sliding-window-counter,1,1'],
    [
      'token-bucket,5,3 & sliding-window,5,3 & sliding-window-counter,8,2',
      'token-bucket,50,3 & sliding-window,2,3 & sliding-window-counter,8,2',
      'token-bucket,2,3 & sliding-window,30,3 & sliding-window-counter,3,2',
    ],
  ],
  'huge numbers': [
    // Overdrawn it is full 2^52 ms from now: with twice that the moment itself would pass 2^53.
    `token-bucket,1,1ms,burst=${2 ** 51}`,
    `token-bucket,${2 ** 51 - 1},1ms,burst=${2 ** 52 - 1}`,
    `token-bucket,${2 ** 51 - 1},7ms,burst=643371375338641`,
    'token-bucket,999983,1000003ms,burst=4503586116',
    // ioredis adds the code of a digit before it subtracts that of 0: within 57 of 2^53 it rounds.
    `sliding-window-counter,${2 ** 53 - 65},1ms & fixed-window,${2 ** 53 - 65},1s`,
    'sliding-window-counter,1286742750677284,7ms',
    'sliding-window-counter,285615,365d & sliding-window,3,1s',
  ],
};
