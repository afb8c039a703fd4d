import { Redis } from 'ioredis';
import { createCluster } from 'redis';
import type { StoreEntry } from '../../../../src/core/index.js';
import { RedisCluster } from '../../../support/redis-cluster.js';
import { describeWithRedis } from '../../../support/redis-server.js';
import { ALGORITHMS, Shop, waitOf, wordsOf } from './support.js';

const TIMEOUT = 250;
const host = '127.0.0.1';

const CLIENTS = {
  ioredis: (ports: number[]) =>
    new Redis.Cluster(
      ports.map((port) => ({ host, port })),
      { lazyConnect: true },
    ),
  'node-redis': (ports: number[]) =>
    createCluster({ rootNodes: ports.map((port) => ({ socket: { host, port } })) }),
} as const;

describeWithRedis('a cluster of which one node stands still', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 30_000);
  afterAll(() => cluster?.stop());

  it.each(Object.entries(CLIENTS))(
    'keeps nobody waiting longer, and counts nothing late, under %s',
    async (_name, connect) => {
      const shop = await Shop.open(connect(cluster.ports) as never, { timeoutMillis: TIMEOUT });
      const rule = ALGORITHMS[1];
      // A user for each node; the one whose node freezes is asked last.
      const users = ['alice', 'bob', 'carol', 'dave', 'eve', 'frank', 'grace', 'heidi'];
      const byNode = new Map<unknown, string>();
      for (const user of users) {
        byNode.set(await cluster.ownerOfKey(`${shop.prefix}:{${user}}`), user);
      }
      const all = [...byNode.values()].sort();
      expect(all.length).toBeGreaterThan(1);
      const last = all.at(-1)!;
      const frozen = [...byNode].find(([, user]) => user === last)![0] as (typeof cluster.nodes)[0];
      const joined: StoreEntry = {
        counters: all.flatMap((user) => shop.entry(rule, user).counters),
        cost: 1,
        mode: 'take',
      };
      const take = async () => (await shop.store.decide([joined], shop.now))[0]!.decision;
      expect(wordsOf(await take())).toBe('yes');

      await frozen.freeze();
      const { answer, millis } = await waitOf(take, TIMEOUT);
      expect(wordsOf(answer)).toBe('~yes');
      expect(millis).toBeLessThanOrEqual(TIMEOUT + 10);
      // The others decide as before, and have got back what was taken of them.
      for (const user of all.slice(0, -1)) {
        expect((await shop.peek(rule, user)).remaining).toBe(4);
      }
      frozen.thaw();
      await shop.recovered(rule);
      for (const user of all) expect((await shop.peek(rule, user)).remaining).toBe(4);
      expect(wordsOf(await take())).toBe('yes');
    },
  );
});
