/* What is done to counters by hand: resetting, blocking. */
import { holds } from './check.js';
import { type Case, forEachAlgorithm } from './subject.js';

const RESETTING: readonly Case[] = forEachAlgorithm(
  'a reset makes a counter as good as new, and no other',
  async (one, name) => {
    const policy = `${name},3,10`;
    const bob = ['bob', '/orders'];
    await one.spend(policy, 0, 3);
    await one.spend(policy, 0, 3, bob);
    // A refusal that is remembered somewhere must not outlive the reset.
    holds('at its limit', await one.take(policy, 0), { allowed: false });
    await one.store.reset(one.counters(policy));
    holds('reset', await one.peek(policy, 0), { remaining: 3, resetAfterMillis: 0 });
    await one.spend(policy, 0, 3);
    await one.left(policy, 0, 0, bob);
  },
);

const BLOCKING: readonly Case[] = [
  ...forEachAlgorithm('a block refuses until its end, and takes nothing', async (one, name) => {
    const policy = `${name},3,10`;
    await one.spend(policy, 0);
    await one.block(policy, 5000, 0);
    const blocked = { allowed: false, reason: 'blocked', remaining: 2 } as const;
    holds('at once', await one.take(policy, 0), { ...blocked, retryAfterMillis: 5000 });
    holds('a peek', await one.peek(policy, 1), { ...blocked, retryAfterMillis: 4999 });
    holds('nothing', await one.take(policy, 1, 0), { allowed: true, remaining: 2 });
    holds('never', await one.take(policy, 1, 4), { allowed: false, reason: 'never' });
    const other = await one.take(policy, 1, 1, ['bob', '/orders']);
    holds('another key', other, { allowed: true });
    holds('1 ms before', await one.take(policy, 4999), { reason: 'blocked', retryAfterMillis: 1 });
    holds('at its end', await one.take(policy, 5000), { allowed: true });
  }),
  ...forEachAlgorithm('a block ends early, and outlasts a window', async (one, name) => {
    const policy = `${name},3,1`;
    await one.block(policy, 3_600_000, 0);
    const late = { allowed: false, reason: 'blocked', retryAfterMillis: 3_540_000 } as const;
    holds('a minute later', await one.take(policy, 60_000), late);
    await one.store.block(one.counters(policy), 0, one.moment(60_000));
    holds('unblocked', await one.take(policy, 60_000, 3), { allowed: true, remaining: 0 });
  }),
  ...forEachAlgorithm('a reset leaves a block standing', async (one, name) => {
    const policy = `${name},3,10`;
    await one.spend(policy, 0, 2);
    await one.block(policy, 700, 0);
    await one.store.reset(one.counters(policy));
    const blocked = { allowed: false, reason: 'blocked', remaining: 3 } as const;
    holds('reset', await one.take(policy, 0), { ...blocked, retryAfterMillis: 700 });
  }),
  [
    'the block of one of joined counters refuses all, and none of them takes',
    async (one) => {
      const policy = 'fixed-window,5,10 & token-bucket,3,10';
      await one.block('token-bucket,3,10', 700, 0);
      const refused = await one.take(policy, 0);
      holds('joined', refused, { allowed: false, reason: 'blocked', retryAfterMillis: 700 });
      await one.left('fixed-window,5,10', 0, 5);
      await one.spend(policy, 700, 3);
      await one.block('fixed-window,5,10', 1000, 700);
      const longer = await one.take(policy, 700);
      holds('the longer wait', longer, { reason: 'blocked', retryAfterMillis: 3334 });
    },
  ],
];

export const BY_HAND: readonly Case[] = [...RESETTING, ...BLOCKING];
