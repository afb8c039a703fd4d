import { RedisSentinel } from './redis-sentinel.js';
import { describeWithRedis } from './redis-server.js';
import { until } from './until.js';

describeWithRedis('the Redis sentinel of the tests', () => {
  let rig: RedisSentinel;

  beforeEach(async () => {
    rig = await RedisSentinel.start();
  }, 30_000);
  afterEach(() => rig?.stop());

  it('knows the master, whose writes the replica copies', async () => {
    const master = await rig.master();
    expect(master).toBe(rig.servers[0]);
    await master.send('SET', 'k', 'v');
    await until('the copy', async () => (await rig.servers[1]!.send('GET', 'k')) === 'v');
    await expect(rig.servers[1]!.send('SET', 'k', 'w')).rejects.toThrow('READONLY');
  });

  it('makes the replica the master at a word, and back', async () => {
    const [first, second] = rig.servers;
    await first!.send('SET', 'k', 'v');
    await expect(rig.failover()).resolves.toBe(second);
    await expect(second!.send('SET', 'k', 'w')).resolves.toBe('OK');
    await until('the copy', async () => (await first!.send('GET', 'k')) === 'w');
    await expect(first!.send('SET', 'k', 'x')).rejects.toThrow('READONLY');
    await expect(rig.failover()).resolves.toBe(first);
    await expect(first!.send('GET', 'k')).resolves.toBe('w');
  }, 60_000);

  it('makes the replica the master when the master dies; who comes back follows', async () => {
    const [first, second] = rig.servers;
    await expect(rig.crash()).resolves.toBe(second);
    await expect(second!.send('SET', 'k', 'v')).resolves.toBe('OK');
    await first!.restart();
    await until('it follows', async () => (await first!.info('role')) === 'slave', 20_000);
  }, 60_000);

  it('makes the replica the master of a frozen one, which follows when it wakes', async () => {
    const [first, second] = rig.servers;
    await first!.freeze();
    await expect(rig.heirOf(first!)).resolves.toBe(second);
    first!.thaw();
    await until('it follows', async () => (await first!.info('role')) === 'slave', 20_000);
  }, 60_000);
});
