import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { describeWithRedis, RedisServer } from './redis-server.js';
import { exchange, type RespArgument } from './resp.js';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

describeWithRedis('the proxy of the tests', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(async () => {
    await server.send('FLUSHALL');
    proxy = await TcpProxy.to(server.port);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await proxy.stop();
  });
  afterAll(() => server?.stop());

  const send = (...args: RespArgument[]) => exchange(proxy.port, [args], 2_000);
  const sendInHaste = (...args: RespArgument[]) => exchange(proxy.port, [args], 100);

  /** A connection that stays, and all that came over it. */
  async function open() {
    const socket = connect(proxy.port, '127.0.0.1');
    sockets.push(socket);
    const seen = { socket, text: '', chunks: 0 };
    socket.on('data', (bytes) => {
      seen.text += bytes;
      seen.chunks += 1;
    });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return seen;
  }

  it('passes long requests and replies, and counts connections', async () => {
    const long = 'x'.repeat(3_000_000);
    await expect(send('SET', 'k', long)).resolves.toBe('OK');
    await expect(send('GET', 'k')).resolves.toBe(long);
    expect(proxy.accepted).toBe(2);
    await until('both are closed', () => proxy.open === 0);
    await open();
    await until('one is open', () => proxy.open === 1);
  });

  it('delays each way and keeps the order', async () => {
    const line = await open();
    proxy.delayMillis = 40;
    const start = performance.now();
    line.socket.write('INCR n\r\n');
    line.socket.write('INCR n\r\n');
    await until('both replies', () => line.text === ':1\r\n:2\r\n');
    // A timer may be a millisecond early.
    expect(performance.now() - start).toBeGreaterThanOrEqual(78);
  });

  it('tears replies into pieces', async () => {
    const line = await open();
    proxy.bytesPerTick = 1;
    line.socket.write('PING hello\r\n');
    await until('the reply', () => line.text === '$5\r\nhello\r\n');
    expect(line.chunks).toBeGreaterThan(1);
  });

  it('holds everything back while frozen, and passes it after', async () => {
    const line = await open();
    await until('it is taken', () => proxy.open === 1);
    proxy.freeze();
    line.socket.write('INCR n\r\n');
    await expect(sendInHaste('PING')).rejects.toThrow('within 100 ms');
    expect(proxy.accepted).toBe(2);
    await expect(server.send('GET', 'n')).resolves.toBeNull();
    expect(line.text).toBe('');
    proxy.thaw();
    await until('the reply', () => line.text === ':1\r\n');
  });

  it('hides from the client that the server has gone while frozen', async () => {
    const line = await open();
    await until('it is taken', () => proxy.open === 1);
    await until('the server has it', async () => (await server.info('connected_clients')) === '2');
    proxy.freeze();
    await server.send('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect(sendInHaste('PING')).rejects.toThrow('within 100 ms');
    expect(line.socket.closed).toBe(false);
    proxy.thaw();
    await until('the end', () => line.socket.closed);
  });

  it('cuts all connections and takes new ones', async () => {
    const lines = [await open(), await open()];
    await until('they are taken', () => proxy.open === 2);
    proxy.cut();
    await until('the ends', () => lines.every((line) => line.socket.closed));
    await expect(send('PING')).resolves.toBe('PONG');
  });

  it('refuses new connections, leaves the open ones, and accepts again', async () => {
    const line = await open();
    await until('it is taken', () => proxy.open === 1);
    proxy.refuse();
    await expect(send('PING')).rejects.toThrow('ECONNREFUSED');
    line.socket.write('PING\r\n');
    await until('the reply', () => line.text === '+PONG\r\n');
    await proxy.accept();
    await expect(send('PING')).resolves.toBe('PONG');
  });

  it('loses the reply to the next command, or to the next of a name, that the server runs', async () => {
    proxy.dropNextReply();
    await expect(send('INCR', 'n')).rejects.toThrow('closed the connection');
    await expect(send('GET', 'n')).resolves.toBe('1');
    proxy.dropNextReply('INCR');
    await expect(send('PING')).resolves.toBe('PONG');
    await expect(send('INCR', 'n')).rejects.toThrow('closed the connection');
    await expect(send('INCR', 'n')).resolves.toBe(3);
  });

  it('ends the connection where the server is gone, and works when it is back', async () => {
    const line = await open();
    await server.kill();
    await until('the end', () => line.socket.closed);
    await expect(send('PING')).rejects.toThrow('closed the connection');
    await server.restart();
    await expect(send('PING')).resolves.toBe('PONG');
  });

  it('stops while frozen, with bytes under way', async () => {
    proxy.delayMillis = 60_000;
    const lines = [await open(), await open()];
    for (const line of lines) line.socket.write('PING\r\n');
    await until('they are taken', () => proxy.open === 2);
    proxy.freeze();
    await proxy.stop();
    await until('the ends', () => lines.every((line) => line.socket.closed));
    await expect(send('PING')).rejects.toThrow('ECONNREFUSED');
  });
});
