import { describeWithRedis, RedisServer, type RedisServerOptions } from './redis-server.js';
import { until } from './until.js';

describeWithRedis('the Redis server of the tests', () => {
  const servers: RedisServer[] = [];

  async function start(options?: RedisServerOptions): Promise<RedisServer> {
    const server = await RedisServer.start(options);
    servers.push(server);
    return server;
  }

  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

  it('starts on a port of its own, answers, and stops', async () => {
    const server = await start();
    await expect(server.send('PING')).resolves.toBe('PONG');
    await server.stop();
    await expect(server.send('PING')).rejects.toThrow('ECONNREFUSED');
    expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
  });

  it('takes any bytes as arguments and answers parsed replies', async () => {
    const server = await start();
    await expect(server.send('SET', 'a key', 'two\r\nlines é')).resolves.toBe('OK');
    await expect(server.send('GET', 'a key')).resolves.toBe('two\r\nlines é');
    await expect(server.send('GET', 'none')).resolves.toBeNull();
    await expect(server.send('INCRBY', 'n', 7)).resolves.toBe(7);
    await expect(server.send('EVAL', 'return {1, {"", false}, {}}', 0)).resolves.toEqual([
      1,
      ['', null],
      [],
    ]);
    await expect(server.send('INCR', 'a key')).rejects.toThrow('ERR value is not an integer');
  });

  it('reads replies that come in many pieces', async () => {
    const server = await start();
    const long = 'é'.repeat(500_000);
    await server.send('SET', 'long', long);
    await expect(server.send('GET', 'long')).resolves.toBe(long);
  });

  it('takes lines of configuration and a password', async () => {
    const server = await start({ password: 'open sesame', config: ['maxmemory 3mb'] });
    await expect(server.send('CONFIG', 'GET', 'maxmemory')).resolves.toEqual([
      'maxmemory',
      `${3 * 1024 * 1024}`,
    ]);
    await expect(server.send('CONFIG', 'GET', 'requirepass')).resolves.toContain('open sesame');
  });

  it('says what the server said where it does not start', async () => {
    await expect(start({ config: ['no-such-line 1'] })).rejects.toThrow("'no-such-line 1'");
  });

  it('does not take another server on the port for its own', async () => {
    const { port } = await start();
    await expect(start({ port })).rejects.toThrow('Address already in use');
  });

  it('keeps silent while frozen, and answers after', async () => {
    const server = await start();
    server.patienceMillis = 100;
    await server.freeze();
    await expect(server.send('PING')).rejects.toThrow('within 100 ms');
    server.thaw();
    await until('it answers', async () => (await server.send('PING')) === 'PONG');
  });

  it('stops even when frozen', async () => {
    const server = await start();
    await server.freeze();
    await server.stop();
    expect(server.running).toBe(false);
  });

  it('comes back empty on the same port', async () => {
    const server = await start();
    await server.send('SET', 'k', 'v');
    await server.send('SAVE');
    await server.kill();
    await expect(server.send('PING')).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    await expect(server.send('GET', 'k')).resolves.toBeNull();
  });

  it('comes back with its data and their time to live', async () => {
    const server = await start();
    await server.send('SET', 'k', 'v', 'PX', 60_000);
    await server.freeze();
    await server.restart({ keepData: true });
    await expect(server.send('GET', 'k')).resolves.toBe('v');
    await expect(server.send('PTTL', 'k')).resolves.toBeLessThanOrEqual(60_000);
  });

  it('comes back with its data from a crash when every write goes to disk', async () => {
    const server = await start({ config: ['appendonly yes', 'appendfsync always'] });
    await server.send('SET', 'k', 'v');
    await server.kill();
    await server.restart({ keepData: true });
    await expect(server.send('GET', 'k')).resolves.toBe('v');
    await server.restart();
    await expect(server.send('GET', 'k')).resolves.toBeNull();
  });
});
