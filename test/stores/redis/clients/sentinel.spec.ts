import { RedisSentinel } from '../../../support/redis-sentinel.js';
import { describeWithRedis } from '../../../support/redis-server.js';
import { until } from '../../../support/until.js';
import {
  atEnd,
  count,
  endAll,
  handles,
  LIBRARIES,
  open,
  opened,
  sentinelClientOf,
} from './support.js';

describeWithRedis.each(LIBRARIES)('a connection by sentinels, with a client of %s', (library) => {
  let rig: RedisSentinel;

  beforeEach(async () => {
    rig = await RedisSentinel.start();
    await sentinelClientOf(library, rig);
  }, 60_000);
  afterEach(async () => {
    await endAll();
    await rig?.stop();
  });

  it('goes to the master, and to the next one after a failover', async () => {
    const connection = await opened(await sentinelClientOf(library, rig));
    expect(connection.cluster).toBe(false);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
    await until('the copy', async () => (await rig.servers[1]!.send('GET', 'n')) === '1');
    const heir = await rig.failover();
    await until('it counts on', () => count(connection));
    expect(Number(await heir.send('GET', 'n'))).toBe(2);
  }, 60_000);

  it('goes to the heir of a master that died', async () => {
    const connection = await opened(await sentinelClientOf(library, rig));
    const heir = await rig.crash();
    await until('it counts', () => count(connection));
    expect(Number(await heir.send('GET', 'n'))).toBe(1);
  }, 60_000);

  it('goes to the heir of a master that stands still', async () => {
    const [master] = rig.servers;
    const connection = await opened(await sentinelClientOf(library, rig));
    await master!.freeze();
    const lost = expect(count(connection)).rejects.toThrow();
    const heir = await rig.heirOf(master!);
    await lost;
    await until('it counts', () => count(connection));
    expect(Number(await heir.send('GET', 'n'))).toBe(1);
  }, 60_000);

  it('waits for sentinels that are away, and says what they are', async () => {
    await rig.sentinel.kill();
    const errors: string[] = [];
    const onError = (error: Error) => errors.push(error.message);
    const connection = open(await sentinelClientOf(library, rig), { onError });
    await until('it has failed', () => errors.length >= 2);
    expect(errors[0]).toContain(`127.0.0.1:${rig.port}`);
    expect(connection.ready).toBe(false);
    await rig.sentinel.restart();
    await until('it counts', () => count(connection));
  }, 60_000);

  it('leaves nothing behind after close, sentinels that stand still included', async () => {
    const client = await sentinelClientOf(library, rig);
    const before = handles();
    const connection = await opened(client);
    await rig.sentinel.freeze();
    atEnd(() => rig.sentinel.thaw());
    const late = open(client);
    await new Promise(setImmediate);
    connection.close();
    late.close();
    await until('nothing is left', () => handles().length <= before.length, 1_000);
  }, 60_000);
});
