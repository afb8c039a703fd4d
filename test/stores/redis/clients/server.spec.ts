import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { atEnd, clientOf, count, endAll, handles, LIBRARIES, open, opened } from './support.js';

describeWithRedis.each(LIBRARIES)('a connection to one server, with a client of %s', (library) => {
  let server: RedisServer;
  let proxy: TcpProxy;

  beforeAll(async () => {
    server = await RedisServer.start();
    await clientOf(library, server.port);
  }, 60_000);
  beforeEach(async () => {
    proxy = await TcpProxy.to(server.port);
    atEnd(() => proxy.stop());
    await server.send('FLUSHALL');
  });
  afterEach(endAll);
  afterAll(() => server?.stop());

  it('answers integers as numbers and bulk strings as text', async () => {
    const connection = await opened(await clientOf(library, server.port));
    expect(connection.cluster).toBe(false);
    await expect(count(connection, 'n', 'é')).resolves.toEqual([1, 'é']);
    await expect(connection.send('n', ['INFO', 'memory'])).resolves.toContain('maxmemory_policy');
    await expect(connection.send('n', ['DEL', 'n'])).resolves.toBe(1);
  });

  it("rejects with the server's words first", async () => {
    const connection = await opened(await clientOf(library, server.port));
    const unknown = connection.send('k', ['EVALSHA', '0'.repeat(40), '1', 'k']);
    await expect(unknown).rejects.toThrow(/^NOSCRIPT /);
    await expect(connection.send('k', ['EVAL', 'no Lua', '0'])).rejects.toThrow(/^ERR /);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
  });

  it('keeps the order of what is sent in one tick', async () => {
    const connection = await opened(await clientOf(library, server.port));
    const replies = await Promise.all(Array.from({ length: 64 }, () => count(connection)));
    expect(replies.map((reply) => (reply as number[])[0])).toEqual(
      Array.from({ length: 64 }, (_, i) => i + 1),
    );
  });

  it('leaves the client alone', async () => {
    const client = await clientOf(library, server.port);
    const connection = await opened(client);
    connection.close();
    expect('isOpen' in client ? client.isOpen : client.status).toBe(
      'isOpen' in client ? false : 'wait',
    );
  });

  it('is ready when the server comes up, and silent until then', async () => {
    const noise = [jest.spyOn(console, 'error'), jest.spyOn(console, 'warn')];
    await proxy.refuse();
    const errors: string[] = [];
    const onError = (error: Error) => errors.push(error.message);
    const connection = open(await clientOf(library, proxy.port), { onError });
    expect(connection.ready).toBe(false);
    await expect(count(connection)).rejects.toThrow('Not connected to Redis');
    await until('it has tried twice', () => errors.length >= 2);
    expect(errors[0]).toContain('ECONNREFUSED');
    await proxy.accept();
    await until('it is connected', () => connection.ready);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
    for (const spy of noise) expect(spy).not.toHaveBeenCalled();
  });

  it('does not run a command again whose reply was lost', async () => {
    const connection = await opened(await clientOf(library, proxy.port));
    proxy.dropNextReply('INCR');
    await expect(count(connection)).rejects.toThrow();
    await until('it is connected again', () => connection.ready);
    await expect(count(connection)).resolves.toEqual([2, 'a']);
  });

  it('loses what is under way with its socket, says so, and connects again', async () => {
    const connection = await opened(await clientOf(library, proxy.port));
    const changes: boolean[] = [];
    connection.onChange(() => changes.push(connection.ready));
    proxy.freeze();
    const underWay = [count(connection), count(connection)].map((one) =>
      expect(one).rejects.toThrow(),
    );
    proxy.cut();
    await Promise.all(underWay);
    expect(connection.ready).toBe(false);
    proxy.thaw();
    await until('it is connected again', () => connection.ready);
    expect(changes).toEqual([false, true]);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
  });

  it('comes back after many failures within a second', async () => {
    const errors: Error[] = [];
    const onError = (error: Error) => errors.push(error);
    const connection = await opened(await clientOf(library, proxy.port), { onError });
    proxy.refuse();
    proxy.cut();
    await until('it has failed often', () => errors.length >= 7, 15_000);
    await proxy.accept();
    await until('it is connected again', () => connection.ready, 1_500);
  }, 30_000);

  it('gives up a socket whose server keeps silent, and comes back when it speaks', async () => {
    const connection = await opened(await clientOf(library, server.port));
    await server.freeze();
    atEnd(() => server.thaw());
    await expect(count(connection)).rejects.toThrow();
    expect(connection.ready).toBe(false);
    server.thaw();
    await until('it is connected again', () => connection.ready);
    expect(Number(await server.send('GET', 'n'))).toBeLessThanOrEqual(1);
  }, 20_000);

  it('is not ready as long as the server loads its data', async () => {
    const config = ['key-load-delay 100', 'loading-process-events-interval-bytes 1024'];
    const slow = await RedisServer.start({ config });
    atEnd(() => slow.stop());
    await slow.send('EVAL', "for i = 1, 10000 do redis.call('SET', i, i) end", 0);
    const errors: string[] = [];
    const onError = (error: Error) => errors.push(error.message);
    const connection = await opened(await clientOf(library, slow.port), { onError });
    const restart = slow.restart({ keepData: true });
    await until('it is told', () => errors.some((message) => message.startsWith('LOADING')));
    expect(connection.ready).toBe(false);
    await restart;
    await until('it is connected again', () => connection.ready);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
  }, 30_000);

  it('connects anew when the server has become a replica', async () => {
    const connection = await opened(await clientOf(library, proxy.port));
    await server.send('REPLICAOF', '127.0.0.1', proxy.port);
    atEnd(() => server.send('REPLICAOF', 'NO', 'ONE'));
    const { accepted } = proxy;
    await expect(count(connection)).rejects.toThrow(/READONLY /);
    await server.send('REPLICAOF', 'NO', 'ONE');
    await until('it is connected anew', () => connection.ready && proxy.accepted > accepted);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
  });

  describe('after close', () => {
    const gone = (before: string[]) =>
      until('nothing is left', () => handles().length <= before.length, 1_000);

    it('leaves nothing behind', async () => {
      const client = await clientOf(library, server.port);
      const before = handles();
      const connection = await opened(client);
      await count(connection);
      connection.close();
      connection.close();
      expect(connection.ready).toBe(false);
      await expect(count(connection)).rejects.toThrow('Not connected to Redis');
      await gone(before);
    });

    it('leaves nothing behind of an attempt', async () => {
      const client = await clientOf(library, server.port);
      const before = handles();
      const [first, second] = [open(client), open(client)];
      first.close();
      await new Promise(setImmediate);
      second.close();
      await new Promise(setImmediate);
      await gone(before);
      expect([first.ready, second.ready]).toEqual([false, false]);
    });

    it('leaves nothing behind of a pause between attempts', async () => {
      proxy.refuse();
      const client = await clientOf(library, proxy.port);
      const before = handles();
      const errors: Error[] = [];
      const connection = open(client, { onError: (error) => errors.push(error) });
      await until('it has failed', () => errors.length === 3);
      connection.close();
      await gone(before);
      expect(errors).toHaveLength(3);
    });

    it('leaves nothing behind of a server that stands still', async () => {
      const client = await clientOf(library, server.port);
      const before = handles();
      const connection = await opened(client);
      const second = open(client);
      await server.freeze();
      atEnd(() => server.thaw());
      const underWay = count(connection);
      const late = open(client);
      for (const one of [connection, second, late]) one.close();
      await expect(underWay).rejects.toThrow();
      await gone(before);
    });
  });
});
