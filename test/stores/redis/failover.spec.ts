import { setTimeout as pause } from 'node:timers/promises';
import { planCounters } from '../../../src/core/counter-plan.js';
import { Policy } from '../../../src/core/index.js';
import { RedisStore, type RedisTarget } from '../../../src/stores/redis/index.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisSentinel } from '../../support/redis-sentinel.js';
import { describeWithRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const policy = Policy.parse('sliding-window,5,1h,onStoreError=local');
const [plan] = planCounters({ policy, place: 'failover', label: 'failover' });
let stores = 0;
const USERS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'];

/** Asks for all the time that `happens` takes, and until Redis decides again for everyone. */
async function askThrough(target: RedisTarget, happens: () => Promise<unknown>): Promise<void> {
  const store = new RedisStore(target, { prefix: `failover ${++stores}`, timeoutMillis: 500 });
  const ask = async (user: string) => {
    const counters = [{ plan: plan!, values: [user, '/'] }];
    const [outcome] = await store.decide([{ counters, cost: 1, mode: 'take' }], Date.now());
    return outcome!.decision;
  };
  try {
    await until('the store is connected', () => store.connected);
    for (const user of USERS) expect(await ask(`${user} before`)).not.toHaveProperty('degraded');
    let over = false;
    const happened = happens().finally(() => {
      over = true;
    });
    // None rejects: what Redis does not decide is decided here, and says so.
    while (!over) {
      await Promise.all(USERS.map((user) => ask(`${user} meanwhile`)));
      await pause(20);
    }
    await happened;
    await until(
      'Redis decides for everyone',
      async () => {
        const all = await Promise.all(USERS.map((user) => ask(`${user} probing`)));
        return all.every(({ degraded }) => !degraded);
      },
      20_000,
    );
    for (const user of USERS) {
      const decisions = await Promise.all(Array.from({ length: 20 }, () => ask(`${user} after`)));
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
      expect(decisions.filter(({ degraded }) => degraded)).toHaveLength(0);
    }
  } finally {
    await store.close();
  }
}

describeWithRedis('while another server becomes the master', () => {
  it('of a cluster, nobody sees an error, and the limits hold again', async () => {
    const cluster = await RedisCluster.start({ replicasEach: 1 });
    try {
      await until('every replica follows', async () => {
        const links = cluster.nodes.map((node) => node.info('master_link_status'));
        return (await Promise.all(links)).filter((link) => link === 'up').length === 3;
      });
      const nodes = cluster.ports.map((port) => `127.0.0.1:${port}`);
      await askThrough({ nodes }, async () => {
        const slot = await cluster.slotOf('{alice meanwhile|/}');
        const owner = await cluster.ownerOf(slot);
        await owner.kill();
        await until('it has an heir', async () => (await cluster.ownerOf(slot)) !== owner, 20_000);
      });
    } finally {
      await cluster.stop();
    }
  }, 90_000);

  it('by the word of a sentinel, nobody sees an error, and the limits hold again', async () => {
    const sentinel = await RedisSentinel.start();
    try {
      const target = { sentinels: [`127.0.0.1:${sentinel.port}`], name: sentinel.name };
      await askThrough(target, () => sentinel.failover());
      await askThrough(target, () => sentinel.crash());
    } finally {
      await sentinel.stop();
    }
  }, 90_000);
});
