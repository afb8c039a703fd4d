/* Which counters are the same, and which are not. */
import { holds, same } from './check.js';
import { type Case, forEachAlgorithm } from './subject.js';

/** No two of them are the same counter. (No values at all: a plan has always or never any.) */
const VALUES: readonly (readonly string[])[] = [
  ...[['alice', '/'], ['alice', ''], ['', 'alice/'], ['alice/'], ['alice', '/', ''], ['']],
  ...[['a|b', 'c'], ['a', 'b|c'], ['a%7cb', 'c'], ['a', 'b', 'c'], ['1:a'], ['a'], ['A'], ['a ']],
  ...[['{a}', 'b'], ['a}', '{b'], ['a', 'b'], ['b', 'a'], ['a\0'], ['a\n'], ['@a'], ['%'], ['#']],
  ...[['__proto__'], ['constructor'], ['\ud800'], ['\udfff'], ['\ufffd'], ['é'], ['e\u0301']],
  ...[['x'.repeat(64)], ['x'.repeat(65)], ['x'.repeat(10_000)], [`${'x'.repeat(9999)}y`]],
];

export const TELLING_APART: readonly Case[] = [
  ...forEachAlgorithm('tells all values apart', async (one, name) => {
    const policy = `${name},2,1h`;
    for (const remaining of [1, 0]) {
      for (const values of VALUES) {
        const decision = await one.take(policy, 0, 1, values);
        const shown = JSON.stringify(values).slice(0, 60);
        holds(`take ${2 - remaining} of ${shown}`, decision, { allowed: true, remaining });
      }
    }
  }),
  [
    'tells rules apart by place, algorithm, window and what they count by',
    async (one) => {
      const rule = 'fixed-window,2,10';
      await one.spend(rule, 0, 2);
      for (const other of ['fixed-window,2,11', 'sliding-window,2,10', 'fixed-window,2,10,by=ip']) {
        holds(other, await one.take(other, 0), { allowed: true, remaining: 1 });
      }
      const counters = one.counters(rule, ['alice', '/orders'], ' of another');
      const elsewhere = await one.ask({ counters, cost: 1, mode: 'take' }, 0);
      holds('another place', elsewhere.decision, { allowed: true, remaining: 1 });
      const twice = await one.take('fixed-window,3,30 & fixed-window,2,30', 0);
      same(
        'rules alike',
        twice.rules?.map(({ remaining }) => remaining),
        [2, 1],
      );
    },
  ],
  [
    'keeps what was counted when the limit changes',
    async (one) => {
      await one.spend('fixed-window,4,10', 0, 3);
      await one.left('fixed-window,9,10', 0, 6);
      await one.left('fixed-window,2,10', 0, 0);
      await one.spend('sliding-window,4,10', 0, 3);
      await one.left('sliding-window,9,10', 0, 6);
      await one.spend('sliding-window-counter,4,10', 0, 3);
      await one.left('sliding-window-counter,9,10', 0, 6);
    },
  ],
];
