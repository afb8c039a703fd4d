/* Several counters of one entry, several entries of one call, several calls at once. */
import { holds, same } from './check.js';
import { type Case, forEachAlgorithm, isOf, MIDNIGHT, type Subject } from './subject.js';

const CALLS = 60;

/** How many of as many calls, all asked before the first is answered, are let in. */
async function admitted(subject: Subject, policy: string, cost: number): Promise<number> {
  const calls = Array.from({ length: CALLS }, () => subject.take(policy, 1000, cost));
  return (await Promise.all(calls)).filter(({ allowed }) => allowed).length;
}

const SCARCE_FIRST = (name: string) => `${name},2,10 & fixed-window,10,60`;
const SCARCE_LAST = (name: string) => `fixed-window,10,60 & ${name},2,10`;

export const TOGETHER: readonly Case[] = [
  [
    'decides the entries of one call in their order, at one moment',
    async (one) => {
      const policy = 'fixed-window,2,10';
      const take = one.entry(policy);
      const entries = [
        take,
        { ...take, mode: 'peek' as const },
        one.entry(policy, 2),
        { ...take },
        { ...take },
        one.entry(policy, 1, ['bob', '/orders']),
        one.entry('token-bucket,5,10 & sliding-window,3,10', 2),
      ];
      const outcomes = await one.store.decide(entries, MIDNIGHT);
      same('how many outcomes', outcomes.length, entries.length);
      for (const [i, entry] of entries.entries()) isOf(entry, outcomes[i]!, MIDNIGHT);
      same(
        'allowed and remaining of each',
        outcomes.map(({ decision }) => [decision.allowed, decision.remaining]),
        [
          [true, 1],
          [true, 1],
          [false, 1],
          [true, 0],
          [false, 0],
          [true, 1],
          [true, 1],
        ],
      );
      same('no entries have no outcomes', await one.store.decide([], MIDNIGHT), []);
    },
  ],
  [
    'the decision of joined rules has the numbers of those that matter',
    async (one) => {
      const policy = 'token-bucket,5,10 & fixed-window,100,1d';
      for (let i = 0; i < 5; i++) await one.spend(policy, 0);
      const { rules, ...refused } = await one.take(policy, 0);
      holds('the sixth', refused, {
        allowed: false,
        reason: 'quota',
        policy: 'test',
        limit: 5,
        windowMillis: 10_000,
        remaining: 0,
        retryAfterMillis: 2000,
        resetAfterMillis: 86_400_000,
        moreAfterMillis: 2000,
      });
      same(
        'its rules',
        rules?.map((rule) => [rule.name, rule.allowed, rule.remaining, rule.retryAfterMillis]),
        [
          ['test', false, 0, 2000],
          ['test-2', true, 95, 0],
        ],
      );
    },
  ],
  ...forEachAlgorithm('joined rules take all or none', async (one, name) => {
    for (const policy of [SCARCE_FIRST(name), SCARCE_LAST(name)]) await one.spend(policy, 0);
    for (const policy of [SCARCE_FIRST(name), SCARCE_LAST(name)]) {
      const refused = await one.take(policy, 0);
      holds('the third', refused, { allowed: false, reason: 'quota', limit: 2, remaining: 0 });
      same('its rules', refused.rules?.map(({ allowed }) => allowed).sort(), [false, true]);
    }
    // Each rule counts by itself as well: same place, same counter.
    await one.left('fixed-window,10,60', 0, 8);
    await one.left(`${name},2,10`, 0, 0);
    holds('above one capacity', await one.take(SCARCE_FIRST(name), 0, 3), { reason: 'never' });
    await one.left('fixed-window,10,60', 0, 8);
  }),
  [
    'joined counters of different values take all or none',
    async (one) => {
      const [by, all] = ['fixed-window,2,10', 'fixed-window,3,20'];
      const entry = (user: string, cost = 1) => ({
        counters: [...one.counters(by, [user]), ...one.counters(all, ['everybody'])],
        cost,
        mode: 'take' as const,
      });
      const allowed = [];
      for (const user of ['alice', 'bob', 'alice', 'alice', 'carol']) {
        allowed.push((await one.ask(entry(user), 0)).decision.allowed);
      }
      same('alice, bob, alice, alice, carol', allowed, [true, true, true, false, false]);
      await one.left(by, 0, 0, ['alice']);
      await one.left(by, 0, 1, ['bob']);
      await one.left(by, 0, 2, ['carol']);
      await one.left(all, 0, 0, ['everybody']);
    },
  ],
  ...forEachAlgorithm('concurrent calls let in exactly the limit', async (one, name) => {
    same(`${CALLS} of cost 1`, await admitted(one, `${name},25,1h`, 1), 25);
    same(`${CALLS} of cost 3`, await admitted(one, `${name},25,2h`, 3), 8);
    await one.left(`${name},25,2h`, 1000, 1);
  }),
  [
    'concurrent calls of joined rules let in exactly the smaller limit',
    async (one) => {
      const policy = 'token-bucket,30,1h & sliding-window,7,1h';
      same(`${CALLS} calls`, await admitted(one, policy, 1), 7);
      await one.left('token-bucket,30,1h', 1000, 23);
    },
  ],
];
