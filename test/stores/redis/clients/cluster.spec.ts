import { slotOf } from '../../../../src/stores/redis/clients/slot.js';
import { RedisCluster } from '../../../support/redis-cluster.js';
import { describeWithRedis } from '../../../support/redis-server.js';
import { until } from '../../../support/until.js';
import { COUNT, clusterClientOf, count, endAll, handles, LIBRARIES, opened } from './support.js';

/** The node named in INFO, by its port. */
const portOf = (info: unknown) => Number(/^tcp_port:(\d+)/m.exec(String(info))?.[1]);

describeWithRedis('a connection to a cluster', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    for (const library of LIBRARIES) await clusterClientOf(library, cluster);
  }, 90_000);
  afterEach(endAll);
  afterAll(() => cluster?.stop());

  it('knows the slot of a key as the servers do', async () => {
    for (const key of [
      '',
      'a',
      'a{b}c',
      '{}a',
      '{a',
      'a{}{b}',
      'a{{b}}c',
      '{é}x',
      'x'.repeat(300),
    ]) {
      expect(slotOf(key)).toBe(await cluster.slotOf(key));
    }
  });

  describe.each(LIBRARIES)('with a client of %s', (library) => {
    it('sends where the key is', async () => {
      const connection = await opened(await clusterClientOf(library, cluster));
      expect(connection.cluster).toBe(true);
      for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
        const owner = await cluster.ownerOfKey(key);
        expect(portOf(await connection.send(key, ['INFO', 'server']))).toBe(owner.port);
        await owner.send('DEL', key);
        await expect(count(connection, key)).resolves.toEqual([1, 'a']);
      }
    });

    it('follows a key that moves, and a slot that has moved, without an error', async () => {
      const key = `{${library}}moves`;
      const connection = await opened(await clusterClientOf(library, cluster));
      const slot = await cluster.slotOf(key);
      const to = await cluster.strangerTo(slot);
      await expect(count(connection, key)).resolves.toEqual([1, 'a']);
      await cluster.beginMove(slot, to);
      await expect(count(connection, key)).resolves.toEqual([2, 'a']);
      await cluster.moveKeys(key);
      const asked = Array.from({ length: 20 }, () => count(connection, key));
      await expect(Promise.all(asked)).resolves.toContainEqual([22, 'a']);
      await expect(count(connection, `{${library}}new`)).resolves.toEqual([1, 'a']);
      await cluster.finishMove(slot);
      const moved = Array.from({ length: 20 }, () => count(connection, key));
      await expect(Promise.all(moved)).resolves.toContainEqual([42, 'a']);
      expect(portOf(await connection.send(key, ['INFO', 'server']))).toBe(to.port);
    });

    it('tells at once that keys of a call stand on two nodes', async () => {
      const keys = [`{${library}}1`, `{${library}}2`] as const;
      const connection = await opened(await clusterClientOf(library, cluster));
      for (const key of keys) await count(connection, key);
      const slot = await cluster.slotOf(keys[0]);
      await cluster.beginMove(slot, await cluster.strangerTo(slot));
      await cluster.moveKeys(keys[0]);
      const from = performance.now();
      const both = connection.send(keys[0], ['EVAL', COUNT, '2', ...keys, 'a']);
      await expect(both).rejects.toThrow(/^TRYAGAIN /);
      expect(performance.now() - from).toBeLessThan(200);
      await cluster.finishMove(slot);
    });

    it('works on with the others when one master is down, and with it when it is back', async () => {
      const key = `{${library}}down`;
      const connection = await opened(await clusterClientOf(library, cluster));
      await count(connection, key);
      const owner = await cluster.ownerOfKey(key);
      await owner.kill();
      await expect(count(connection, key)).rejects.toThrow();
      expect(connection.ready).toBe(true);
      await owner.restart();
      await until('it has the key again', () => count(connection, key), 15_000);
    }, 30_000);

    it('leaves nothing behind after close', async () => {
      const client = await clusterClientOf(library, cluster);
      const before = handles();
      const connection = await opened(client);
      const frozen = await cluster.ownerOfKey('a');
      await frozen.freeze();
      const underWay = count(connection, 'a');
      connection.close();
      connection.close();
      await expect(underWay).rejects.toThrow();
      expect(connection.ready).toBe(false);
      await until('nothing is left', () => handles().length <= before.length, 1_000);
      frozen.thaw();
      await until('the cluster is whole', () => frozen.send('SET', 'a', '1'));
    });
  });
});

describeWithRedis.each(LIBRARIES)('a cluster with replicas, and a client of %s', (library) => {
  it('finds the heirs of a master that died', async () => {
    const cluster = await RedisCluster.start({ replicasEach: 1 });
    try {
      const connection = await opened(await clusterClientOf(library, cluster));
      await count(connection, 'k');
      const owner = await cluster.ownerOfKey('k');
      await until('every replica follows', async () => {
        const links = cluster.nodes.map((node) => node.info('master_link_status'));
        return (await Promise.all(links)).filter((link) => link === 'up').length === 3;
      });
      await owner.kill();
      await until('the heir counts on', () => count(connection, 'k'), 20_000);
      const heir = await cluster.ownerOfKey('k');
      expect(heir).not.toBe(owner);
    } finally {
      await endAll();
      await cluster.stop();
    }
  }, 90_000);
});
