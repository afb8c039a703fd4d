import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../../support/free-port.js';
import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { ALGORITHMS, CLIENTS, clientOf, expectNoWait, Shop, waitOf, wordsOf } from './support.js';

const [RULE] = ALGORITHMS;
const TIMEOUT = 100;

/** What may listen where a Redis was meant to be. */
const STRANGERS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'says nothing': () => undefined,
  'closes at once': (socket) => socket.end(),
  'resets at once': (socket) => socket.resetAndDestroy(),
  'speaks HTTP': (socket) =>
    socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  'speaks first, as SSH does': (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'),
  'answers anything with OK': (socket) => socket.on('data', () => socket.write('+OK\r\n')),
  'answers anything with text': (socket) => socket.on('data', () => socket.write('$2\r\nhi\r\n')),
  'stops in the middle': (socket) => socket.on('data', () => socket.write('*2\r\n$10\r\n17')),
};

describe.each(CLIENTS)('a Redis that is not there at the start, under %s', (client) => {
  let closing: (() => unknown)[] = [];

  afterEach(async () => {
    await Promise.all(closing.map((close) => close()));
    closing = [];
  });

  async function stranger(meet: (socket: Socket) => unknown): Promise<number> {
    const port = await freePort();
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      meet(socket);
    });
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return port;
  }

  /** The first may wait for the connection, the next for an answer, the others for nothing. */
  async function expectDecisions(shop: Shop): Promise<void> {
    const first = await waitOf(() => Promise.all([1, 2, 3].map(() => shop.take(RULE))));
    expect(first.answer.map(wordsOf)).toEqual(['~yes', '~yes', '~yes']);
    expect(first.millis).toBeLessThanOrEqual(TIMEOUT + 10);
    for (let i = 0; i < 5; i++) {
      const { answer, millis } = await waitOf(() => shop.take(RULE));
      expect(wordsOf(answer)).toBe('~yes');
      expect(millis).toBeLessThanOrEqual(TIMEOUT + 10);
    }
    expect(shop.events).toEqual(['failed', 'breaker open']);
    await expectNoWait([() => shop.take(RULE)], (answer) => expect(wordsOf(answer)).toBe('~yes'));
    await waitOf(() => shop.store.close()).then(({ millis }) =>
      expect(millis).toBeLessThanOrEqual(TIMEOUT + 10),
    );
  }

  it('is none where nobody listens', async () => {
    await expectDecisions(new Shop(clientOf(client, await freePort())));
  });

  it('is none at a name that nobody has', async () => {
    await expectDecisions(new Shop({ url: 'redis://nobody.invalid:6379' }));
  });

  it.each(Object.entries(STRANGERS))('is none where somebody %s', async (_name, meet) => {
    await expectDecisions(new Shop(clientOf(client, await stranger(meet))));
  });

  it('tells whoever resets or blocks, at once', async () => {
    const shop = new Shop(clientOf(client, await freePort()));
    const { counters } = shop.entry(RULE);
    await expect(shop.store.reset(counters)).rejects.toThrow();
    await expect(shop.store.block(counters, shop.now + 1, shop.now)).rejects.toThrow();
  });
});

describeWithRedis.each(CLIENTS)('a Redis that comes later, under %s', (client) => {
  const servers: RedisServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));
  const start = async (options: Parameters<typeof RedisServer.start>[0]) => {
    const server = await RedisServer.start(options);
    servers.push(server);
    return server;
  };

  it('limits from then on, without a restart', async () => {
    const port = await freePort();
    const shop = new Shop(clientOf(client, port));
    await shop.untilOpen();
    expect(await shop.takes(7, RULE)).toBe(Array(7).fill('~yes').join(', '));
    await start({ port });
    await shop.recovered();
    expect(await shop.takes(6, RULE)).toBe('yes, yes, yes, yes, yes, quota');
    expect(shop.events.filter((one) => !one.startsWith('breaker'))).toEqual([
      'failed',
      'recovered',
    ]);
  });

  it('is waited for by the first who ask, and decides for them', async () => {
    const { port } = await start({});
    const shop = new Shop(clientOf(client, port), { timeoutMillis: 5000 });
    const asked = await Promise.all(Array.from({ length: 7 }, () => shop.take(RULE)));
    expect(asked.map(wordsOf).join()).toBe('yes,yes,yes,yes,yes,quota,quota');
  });

  it.each([
    ['a wrong password', { password: 'wrong' }],
    ['no password', {}],
    ['an unknown name', { username: 'nobody', password: 'right' }],
  ])('does not let in with %s, until that is right', async (_name, login) => {
    const server = await start({ password: 'right' });
    const shop = new Shop(clientOf(client, server.port, login));
    const { answer, millis } = await waitOf(() => shop.take(RULE));
    expect(wordsOf(answer)).toBe('~yes');
    expect(millis).toBeLessThanOrEqual(TIMEOUT + 10);
    await shop.untilOpen();
    const { username = 'default', password } = login as { username?: string; password?: string };
    const secret = password === undefined ? 'nopass' : `>${password}`;
    await server.send('ACL', 'SETUSER', username, 'on', secret, '~*', '&*', '+@all');
    await shop.recovered();
    expect(await shop.takes(6, RULE)).toBe('yes, yes, yes, yes, yes, quota');
  });
});
