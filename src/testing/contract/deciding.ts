/* One counter: what is taken, what is refused, and what the numbers of a decision mean. */
import { RateLimitStore } from '../../core/store.js';
import { holds, same } from './check.js';
import { type Case, forEachAlgorithm, MIDNIGHT, type Subject, YEAR } from './subject.js';
import { linesOf, TRACES, type Trace } from './traces.js';

/** After a refusal: refused one millisecond before the hint, with the rest as its hint; in at it. */
async function hintIsTrue(subject: Subject, policy: string, at: number, cost: number) {
  const refused = await subject.take(policy, at, cost);
  holds(`${policy} refuses ${cost} at ${at} ms`, refused, { allowed: false, reason: 'quota' });
  const then = at + refused.retryAfterMillis;
  const early = await subject.take(policy, then - 1, cost);
  const what = `${policy}, ${cost} asked again`;
  holds(`${what} 1 ms before the hint`, early, { allowed: false, retryAfterMillis: 1 });
  holds(`${what} at the hint`, await subject.take(policy, then, cost), { allowed: true });
}

async function replays(subject: Subject, { rule, ...trace }: Trace) {
  for (const line of linesOf({ rule, ...trace })) {
    const [at, cost] = line.split(' ').map(Number) as [number, number];
    const { allowed, remaining, retryAfterMillis } = await subject.take(rule, at, cost);
    const retry = Number.isFinite(retryAfterMillis) ? retryAfterMillis : 'never';
    const got = `${at} ${cost} → ${allowed ? 'yes' : 'no'} ${remaining} ${retry}`;
    same(`${rule}: at cost → allowed remaining retryAfter`, got, line);
  }
}

export const DECIDING: readonly Case[] = [
  [
    'is a RateLimitStore with a name',
    async ({ store }) => {
      same('it extends RateLimitStore', store instanceof RateLimitStore, true);
      same('its name is a text', typeof store.name === 'string' && store.name !== '', true);
      same('onEvent answers what stops it', typeof store.onEvent(() => undefined), 'function');
    },
  ],
  ...TRACES.map((trace): Case => [`golden trace of ${trace.rule}`, (one) => replays(one, trace)]),
  ...forEachAlgorithm('the hint of a refusal is true to the millisecond', async (one, name) => {
    const policy = `${name},5,10`;
    await one.spend(policy, 3333, 2);
    await one.spend(policy, 4444, 3);
    for (const [i, cost] of [1, 2, 5].entries()) {
      // Each time anew after what the last ones left.
      const at = 5000 + 40_000 * i;
      const { remaining } = await one.peek(policy, at, 0);
      if (remaining > 0) await one.spend(policy, at, remaining);
      await hintIsTrue(one, policy, at, cost);
    }
  }),
  ...forEachAlgorithm('a peek answers as the take would, and takes nothing', async (one, name) => {
    const policy = `${name},3,10`;
    for (const cost of [1, 3, 4]) {
      holds('a fresh peek', await one.peek(policy, 0, cost), { allowed: cost < 4, remaining: 3 });
    }
    await one.spend(policy, 0, 2);
    same('a peek and its take', await one.peek(policy, 1, 2), await one.take(policy, 1, 2));
    await one.left(policy, 1, 1);
  }),
  ...forEachAlgorithm('a cost of 0 is always allowed and takes nothing', async (one, name) => {
    const policy = `${name},3,10`;
    const free = { allowed: true, reason: undefined, retryAfterMillis: 0 };
    holds('fresh', await one.take(policy, 0, 0), { ...free, remaining: 3, resetAfterMillis: 0 });
    await one.spend(policy, 0, 3);
    holds('at the limit', await one.take(policy, 0, 0), { ...free, remaining: 0 });
  }),
  ...forEachAlgorithm(
    'a cost above the capacity never fits, and takes nothing',
    async (one, name) => {
      const policy = `${name},3,10`;
      const expected = { allowed: false, reason: 'never', retryAfterMillis: Infinity } as const;
      holds('4 of 3', await one.take(policy, 0, 4), { ...expected, remaining: 3 });
      holds('10^9 of 3', await one.peek(policy, 0, 1e9), { ...expected, remaining: 3 });
      await one.spend(policy, 0, 3);
    },
  ),
  ...forEachAlgorithm('a refusal changes nothing, however often', async (one, name) => {
    const policy = `${name},3,10`;
    await one.spend(policy, 0, 2);
    const first = await one.take(policy, 5, 2);
    for (let i = 0; i < 20; i++) same('again', await one.take(policy, 5, 2), first);
    await one.left(policy, 5, 1);
  }),
  ...forEachAlgorithm('tells all numbers of a counter', async (one, name) => {
    const policy = `${name},4,10`;
    const fresh = { policy: 'test', limit: 4, windowMillis: 10_000, rules: undefined };
    const full = { remaining: 4, moreAfterMillis: 0, resetAfterMillis: 0 };
    holds('a fresh one', await one.peek(policy, 0), { ...fresh, ...full });
    const { resetAfterMillis, moreAfterMillis } = await one.take(policy, 0, 2);
    const before = await one.peek(policy, moreAfterMillis - 1, 0);
    const after = await one.peek(policy, moreAfterMillis, 0);
    holds('1 ms before moreAfterMillis', before, { remaining: 2, moreAfterMillis: 1 });
    same('more remains at moreAfterMillis', after.remaining > 2, true);
    const late = await one.peek(policy, resetAfterMillis - 1, 0);
    holds('1 ms before resetAfterMillis', late, { resetAfterMillis: 1 });
    holds('at resetAfterMillis', await one.peek(policy, resetAfterMillis, 0), full);
  }),
  ...forEachAlgorithm('windows of a year and of a millisecond', async (one, name) => {
    const policy = `${name},2,365d`;
    await one.spend(policy, YEAR - (MIDNIGHT % YEAR), 2);
    await hintIsTrue(one, policy, YEAR - (MIDNIGHT % YEAR) + 86_400_000, 1);
    await one.spend(`${name},2,1ms`, 3 * YEAR, 2);
    holds('1 ms later', await one.take(`${name},2,1ms`, 3 * YEAR + 2, 2), { allowed: true });
  }),
];
