import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { until } from '../../../support/until.js';
import { clientOf, count, endAll, type Library, open, opened } from './support.js';

const OF_IOREDIS = {
  'no connection by itself': { lazyConnect: true },
  'a prefix': { keyPrefix: 'app:' },
  pipelines: { enableAutoPipelining: true },
  'a time limit': { commandTimeout: 1 },
  'no check whether the server is ready': { enableReadyCheck: false },
  'numbers as text': { stringNumbers: true },
  'stacks of the caller': { showFriendlyErrorStack: true },
  'a stream of all commands': { monitor: true },
  'a replica in mind': { readOnly: true },
  'a strategy that gives up': { retryStrategy: () => null },
  'an offline queue': { enableOfflineQueue: true, maxRetriesPerRequest: null },
  'another class of replies': { protocol: 3, replyMapping: 'resp3' },
};

const OF_NODE_REDIS = {
  RESP3: { RESP: 3 },
  'a mapping of types': { RESP: 3, commandOptions: { typeMapping: { 58: String, 36: Buffer } } },
  'a time limit': { commandOptions: { timeout: 1 } },
  'a prefix': { keyPrefix: 'app:' },
  'a replica in mind': { readonly: true },
  'a cache': { RESP: 3, clientSideCache: { ttl: 0, maxEntries: 10 } },
  'a short queue': { commandsQueueMaxLength: 1 },
  pings: { pingInterval: 10 },
};

const CASES: [Library, string, object][] = [
  ...(['ioredis', 'iovalkey'] as const).flatMap((library) =>
    Object.entries(OF_IOREDIS).map(([what, more]): [Library, string, object] => [
      library,
      what,
      more,
    ]),
  ),
  ...Object.entries(OF_NODE_REDIS).map(([what, more]): [Library, string, object] => [
    'redis',
    what,
    more,
  ]),
];

describeWithRedis('a connection of its own is not touched by what a client is set to', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start({ password: 'open sesame', config: ['databases 4'] });
    for (const library of ['ioredis', 'iovalkey', 'redis'] as const)
      await clientOf(library, server.port);
  }, 60_000);
  afterEach(endAll);
  afterAll(() => server?.stop());

  it.each(CASES)('%s: %s', async (library, _what, more) => {
    await server.send('FLUSHALL');
    const connection = await opened(
      await clientOf(library, server.port, { password: 'open sesame', ...more }),
    );
    const replies = await Promise.all([count(connection), count(connection)]);
    expect(replies).toEqual([
      [1, 'a'],
      [2, 'a'],
    ]);
    await expect(server.send('GET', 'n')).resolves.toBe('2');
  });

  it.each([
    ['ioredis', { db: 3 }],
    ['iovalkey', { db: 3 }],
    ['redis', { database: 3 }],
  ] as const)('%s: but uses its database', async (library, more) => {
    await server.send('FLUSHALL');
    const client = await clientOf(library, server.port, { password: 'open sesame', ...more });
    await count(await opened(client));
    await expect(server.send('GET', 'n')).resolves.toBeNull();
    await expect(server.info('db3')).resolves.toMatch(/^keys=1,/);
  });

  it.each(['ioredis', 'iovalkey', 'redis'] as const)(
    '%s: a wrong password is told',
    async (library) => {
      const errors: string[] = [];
      const onError = (error: Error) => errors.push(error.message);
      const connection = open(await clientOf(library, server.port, { password: 'wrong' }), {
        onError,
      });
      await until('it is told twice', () => errors.length >= 2);
      expect(errors[0]).toMatch(/WRONGPASS|NOAUTH/);
      expect(connection.ready).toBe(false);
    },
  );
});
