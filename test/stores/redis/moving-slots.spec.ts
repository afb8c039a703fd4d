import { setTimeout as pause } from 'node:timers/promises';
import { planCounters } from '../../../src/core/counter-plan.js';
import type { Counter, CounterPlan, Outcome } from '../../../src/core/index.js';
import { Policy } from '../../../src/core/index.js';
import { planDigest } from '../../../src/stores/redis/counter-key.js';
import { RedisStore } from '../../../src/stores/redis/index.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { describeWithRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const LIMIT = 400;
const RULES = [
  `fixed-window,${LIMIT},365d`,
  `sliding-window,${LIMIT},1d`,
  'fixed-window,9999,365d',
];

describeWithRedis('while a slot moves', () => {
  let cluster: RedisCluster;
  let store: RedisStore;
  let moves = 0;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    const nodes = cluster.ports.map((port) => `127.0.0.1:${port}`);
    store = new RedisStore({ nodes }, { prefix: 'move', timeoutMillis: 3000 });
    await until('the store is connected', () => store.connected);
  }, 60_000);

  afterAll(async () => {
    await store?.close();
    await cluster?.stop();
  });

  const plans = RULES.map((text, i) => {
    const policy = Policy.parse(text);
    return planCounters({ policy, place: `place ${i}`, label: `${i}` })[0]!;
  });
  const of = (user: string) => (plan: CounterPlan) => ({ plan, values: [user, '/'] });

  const keyOf = ({ plan, values }: Counter) => `move:{${values.join('|')}}${planDigest(plan)}`;

  async function ask(counters: readonly Counter[], mode: 'take' | 'peek' = 'take') {
    const [outcome] = await store.decide([{ counters, cost: 1, mode }], Date.now());
    expect(outcome!.decision.degraded).toBeUndefined();
    return outcome!;
  }

  /** The slot goes to another master, its keys one by one, a while in between. */
  async function move(counters: readonly Counter[]): Promise<void> {
    const slot = await cluster.slotOf(keyOf(counters[0]!));
    await cluster.beginMove(slot, await cluster.strangerTo(slot));
    for (const counter of counters) {
      await pause(15);
      await cluster.moveKeys(keyOf(counter));
    }
    await pause(15);
    await cluster.finishMove(slot);
    moves++;
  }

  /** Asks now for single counters and now for several, some of it given back, until told to end. */
  async function askAlong(choices: readonly (readonly Counter[])[], done: () => boolean) {
    const admitted = new Map<string, number>();
    const count = (outcome: Outcome, by: number) => {
      for (const counter of outcome.entry.counters) {
        admitted.set(keyOf(counter), (admitted.get(keyOf(counter)) ?? 0) + by);
      }
    };
    for (let i = 0; !done(); i++) {
      const outcomes = await Promise.all(choices.map((counters) => ask(counters)));
      const taken = outcomes.filter(({ decision }) => decision.allowed);
      for (const outcome of taken) count(outcome, 1);
      if (i % 3 === 0 && taken[0]) {
        expect(await store.settle(taken[0], -1, Date.now())).toBe(0);
        count(taken[0], -1);
      }
      await pause(2);
    }
    return admitted;
  }

  async function expectAllCounted(counters: readonly Counter[], admitted: Map<string, number>) {
    for (const counter of counters) {
      const { decision } = await ask([counter], 'peek');
      const { limit } = counter.plan.rule;
      expect([counter.plan.label, limit - decision.remaining]).toEqual([
        counter.plan.label,
        admitted.get(keyOf(counter)),
      ]);
      expect(decision.remaining).toBeGreaterThanOrEqual(0);
    }
  }

  it('no call fails, none is lost and none too many is let in: one slot', async () => {
    const all: Counter[] = plans.map(of('alice'));
    const [first, second, third] = all as [Counter, Counter, Counter];
    for (const one of all) await store.settle(await ask([one]), -1, Date.now());
    await ask(all);
    let done = false;
    const asking = askAlong(
      [[first], [first, second], [third], [second, third, first]],
      () => done,
    );
    for (let i = 0; i < 12; i++) await move(all);
    done = true;
    const admitted = await asking;
    for (const [key, n] of admitted) admitted.set(key, n + 1);
    expect(admitted.get(keyOf(first))).toBeGreaterThan(50);
    await expectAllCounted(all, admitted);
  }, 60_000);

  it('the same of joined counters in two slots, of which both move', async () => {
    const alice = plans.map(of('carol'));
    const bob = plans.map(of('bob'));
    await ask([...alice, ...bob]);
    let done = false;
    const choices = [[alice[0]!, bob[1]!], [...alice, ...bob], [bob[0]!], [alice[1]!, alice[0]!]];
    const asking = askAlong(choices, () => done);
    for (let i = 0; i < 6; i++) {
      await move(alice);
      await move(bob);
    }
    done = true;
    const admitted = await asking;
    for (const [key, n] of admitted) admitted.set(key, n + 1);
    await expectAllCounted([...alice, ...bob], admitted);
  }, 60_000);

  it('resets, blocks and charges reach keys on both sides', async () => {
    const all = plans.map(of('dave'));
    const outcome = await ask(all);
    const slot = await cluster.slotOf(keyOf(all[0]!));
    await cluster.beginMove(slot, await cluster.strangerTo(slot));
    await cluster.moveKeys(keyOf(all[1]!));
    expect(await store.settle(outcome, 4, Date.now())).toBe(0);
    for (const one of all) {
      expect((await ask([one], 'peek')).decision.remaining).toBe(one.plan.rule.limit - 5);
    }
    await store.block(all, Date.now() + 60_000, Date.now());
    expect((await ask(all)).decision.reason).toBe('blocked');
    await store.block(all, 0, Date.now());
    await store.reset(all);
    for (const one of all) {
      expect((await ask([one], 'peek')).decision.remaining).toBe(one.plan.rule.limit);
    }
    await cluster.finishMove(slot);
    expect(moves).toBeGreaterThan(0);
  });
});
