/* Correcting what a take cost, when the real cost is known. */
import { holds, same } from './check.js';
import { type Case, forEachAlgorithm } from './subject.js';

const WINDOWS = ['fixed-window', 'sliding-window', 'sliding-window-counter'];

/** What is taken at 0, how much is given back when, and what is left then. */
const GIVEN_BACK: readonly (readonly [string, number, number, number, number])[] = [
  ['fixed-window,10,10', 4, 3, 9999, 9],
  ['fixed-window,10,10', 4, 4, 10_000, 10],
  ['sliding-window,10,10', 4, 3, 9999, 9],
  ['sliding-window,10,10', 4, 4, 10_000, 10],
  ['sliding-window-counter,10,10', 4, 3, 9999, 9],
  ['sliding-window-counter,10,10', 4, 3, 10_000, 9],
  ['token-bucket,10,10', 4, 2, 1000, 8],
  // Of 4 taken, 3 would have been earned since: 1 is all that may come back.
  ['token-bucket,10,10', 4, 2, 3000, 9],
  ['token-bucket,10,10', 4, 4, 3000, 10],
];

export const SETTLING: readonly Case[] = [
  ...forEachAlgorithm('settling gives back what was taken', async (one, name) => {
    const policy = `${name},10,10`;
    const receipt = await one.spend(policy, 0, 4);
    await one.spend(policy, 0, 3);
    same('nothing is dropped', await one.settle(receipt, -4, 0), 0);
    await one.left(policy, 0, 7);
    same('nothing settled', await one.settle(receipt, 0, 0), 0);
    await one.left(policy, 0, 7);
  }),
  ...GIVEN_BACK.map(
    ([policy, cost, back, at, left]): Case => [
      `${policy}: of ${cost} taken, ${back} given back after ${at} ms leave ${left}`,
      async (one) => {
        const receipt = await one.spend(policy, 0, cost);
        await one.settle(receipt, -back, at);
        await one.left(policy, at, left);
      },
    ],
  ),
  ...forEachAlgorithm('settling never fills above the capacity', async (one, name) => {
    const policy = `${name},3,10`;
    const receipt = await one.spend(policy, 0, 2);
    await one.settle(receipt, -1000, 0);
    holds('full', await one.peek(policy, 0, 0), { remaining: 3, resetAfterMillis: 0 });
    holds('4 of 3', await one.take(policy, 0, 4), { allowed: false, reason: 'never' });
    await one.spend(policy, 0, 3);
    holds('one more', await one.take(policy, 0), { allowed: false });
  }),
  ...forEachAlgorithm('settling late gives none of a later window away', async (one, name) => {
    const policy = `${name},3,10`;
    const receipt = await one.spend(policy, 0, 2);
    await one.spend(policy, 25_000, 1);
    await one.settle(receipt, -2, 25_000);
    await one.left(policy, 25_000, 2);
  }),
  ...forEachAlgorithm('settling charges more than was taken', async (one, name) => {
    const policy = `${name},10,10`;
    const receipt = await one.spend(policy, 0, 2);
    same('nothing is dropped', await one.settle(receipt, 3, 0), 0);
    await one.left(policy, 0, 5);
  }),
  ...WINDOWS.map(
    (name): Case => [
      `${name}: a charge goes up to the limit, and tells what it dropped`,
      async (one) => {
        const receipt = await one.spend(`${name},10,10`, 0, 2);
        same('dropped', await one.settle(receipt, 11, 0), 3);
        await one.left(`${name},10,10`, 0, 0);
      },
    ],
  ),
  [
    'token-bucket: a charge overdraws by one capacity at most',
    async (one) => {
      const receipt = await one.spend('token-bucket,10,10', 0, 2);
      same('dropped', await one.settle(receipt, 21, 0), 3);
      const owes = { allowed: false, remaining: 0, retryAfterMillis: 11_000 };
      holds('one more', await one.take('token-bucket,10,10', 0), owes);
      holds('nothing', await one.take('token-bucket,10,10', 0, 0), { allowed: true });
    },
  ],
  [
    'settling for some counters of an entry leaves the others as they were',
    async (one) => {
      const [wide, narrow] = ['fixed-window,10,10', 'sliding-window,5,10'];
      const receipt = await one.spend(`${wide} & ${narrow}`, 0, 3);
      for (const [i, delta] of [-2, 1].entries()) {
        const counters = receipt.entry.counters.slice(i, i + 1);
        await one.settle({ ...receipt, entry: { ...receipt.entry, counters } }, delta, 0);
      }
      await one.left(wide, 0, 9);
      await one.left(narrow, 0, 1);
    },
  ],
  [
    'settling reaches every counter of its entry; of a charge it tells the largest drop',
    async (one) => {
      const [wide, narrow] = ['fixed-window,10,10', 'sliding-window,5,10'];
      const receipt = await one.spend(`${wide} & ${narrow}`, 0, 3);
      await one.settle(receipt, -2, 0);
      await one.left(wide, 0, 9);
      await one.left(narrow, 0, 4);
      same('dropped', await one.settle(await one.spend(narrow, 0), 9, 0), 6);
      const both = await one.spend(`${wide} & fixed-window,3,20`, 0);
      same('dropped by the narrower', await one.settle(both, 4, 0), 2);
    },
  ],
];
