import { RedisCluster } from './redis-cluster.js';
import { describeWithRedis, type RedisServer } from './redis-server.js';
import { until } from './until.js';

describeWithRedis('the Redis cluster of the tests', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 30_000);
  afterAll(() => cluster?.stop());

  /** A slot with one key in it, its owner, and another master. */
  async function place(key: string) {
    const slot = await cluster.slotOf(key);
    const [from, to] = [await cluster.ownerOf(slot), await cluster.strangerTo(slot)];
    await from.send('SET', key, 'v');
    return { slot, from, to };
  }

  const asks = (to: RedisServer, slot: number) => `ASK ${slot} 127.0.0.1:${to.port}`;
  const moved = (to: RedisServer, slot: number) => `MOVED ${slot} 127.0.0.1:${to.port}`;

  it('spreads its slots over three masters', async () => {
    await expect(cluster.slotOf('foo')).resolves.toBe(12_182);
    const owners = [0, 6_000, 16_383].map((slot) => cluster.ownerOf(slot));
    expect(new Set(await Promise.all(owners)).size).toBe(3);
  });

  it('keeps keys with the same tag in one slot', async () => {
    await expect(cluster.slotOf('{a}1')).resolves.toBe(await cluster.slotOf('{a}2'));
  });

  it('sends on who asks the wrong node', async () => {
    const { slot, from, to } = await place('wrong');
    await expect(to.send('GET', 'wrong')).rejects.toThrow(moved(from, slot));
  });

  it('asks at the new node for keys that have moved, at the old for those that have not', async () => {
    const { slot, from, to } = await place('{ask}1');
    await from.send('SET', '{ask}2', 'v');
    await cluster.beginMove(slot, to);
    await expect(from.send('GET', '{ask}1')).resolves.toBe('v');
    await expect(from.send('GET', '{ask}new')).rejects.toThrow(asks(to, slot));
    await expect(to.send('GET', '{ask}1')).rejects.toThrow(moved(from, slot));

    await cluster.moveKeys('{ask}1');
    await expect(from.send('GET', '{ask}1')).rejects.toThrow(asks(to, slot));
    await expect(from.send('GET', '{ask}2')).resolves.toBe('v');
    await expect(from.send('MGET', '{ask}1', '{ask}2')).rejects.toThrow('TRYAGAIN');

    await cluster.finishMove(slot);
    await expect(from.send('GET', '{ask}2')).rejects.toThrow(moved(to, slot));
    await expect(to.send('MGET', '{ask}1', '{ask}2')).resolves.toEqual(['v', 'v']);
    await expect(cluster.ownerOf(slot)).resolves.toBe(to);
  });

  it('moves a slot there and back, with its keys', async () => {
    const { slot, from, to } = await place('back');
    await cluster.moveSlot(slot, to);
    await expect(to.send('GET', 'back')).resolves.toBe('v');
    await cluster.moveSlot(slot, from);
    await expect(from.send('GET', 'back')).resolves.toBe('v');
    await expect(to.send('GET', 'back')).rejects.toThrow(moved(from, slot));
  });

  it('moves an empty slot', async () => {
    const slot = await cluster.slotOf('empty');
    const to = await cluster.strangerTo(slot);
    await cluster.moveSlot(slot, to);
    await expect(to.send('GET', 'empty')).resolves.toBeNull();
  });

  it('says so where none of the keys is there to move', async () => {
    const { slot, to } = await place('there');
    await cluster.beginMove(slot, to);
    await expect(cluster.moveKeys('{there}not')).rejects.toThrow('to move: {there}not');
    await cluster.finishMove(slot);
  });

  it('moves no keys of a slot whose move has not begun', async () => {
    await expect(cluster.moveKeys('idle')).rejects.toThrow('has begun');
    await expect(cluster.finishMove(1)).rejects.toThrow('No move of slot 1 has begun');
  });

  it('goes down with a master and comes back with it', async () => {
    const owner = await cluster.ownerOfKey('down');
    const other = await cluster.strangerTo(await cluster.slotOf('down'));
    const state = async (wanted: string) =>
      String(await other.send('CLUSTER', 'INFO')).includes(`cluster_state:${wanted}`);
    await owner.kill();
    await until('the cluster is down', () => state('fail'), 15_000);
    await owner.restart();
    await until('the cluster is up', () => state('ok'), 15_000);
  }, 40_000);
});

describeWithRedis('a Redis cluster with replicas', () => {
  it('gives the slots of a master that dies to its replica', async () => {
    const cluster = await RedisCluster.start({ replicasEach: 1 });
    try {
      const slot = await cluster.slotOf('k');
      const owner = await cluster.ownerOf(slot);
      await until('every replica follows', async () => {
        const links = cluster.nodes.map((node) => node.info('master_link_status'));
        return (await Promise.all(links)).filter((link) => link === 'up').length === 3;
      });
      await owner.kill();
      await until('another has it', async () => (await cluster.ownerOf(slot)) !== owner, 15_000);
      const heir = await cluster.ownerOf(slot);
      await until('it takes writes', async () => (await heir.send('SET', 'k', 'v')) === 'OK');
    } finally {
      await cluster.stop();
    }
  }, 60_000);
});
