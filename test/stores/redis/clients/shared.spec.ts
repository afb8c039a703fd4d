import { openConnection } from '../../../../src/stores/redis/clients/connect.js';
import { RedisCluster } from '../../../support/redis-cluster.js';
import { RedisSentinel } from '../../../support/redis-sentinel.js';
import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';
import { until } from '../../../support/until.js';
import {
  atEnd,
  clientOf,
  clusterClientOf,
  count,
  endAll,
  LIBRARIES,
  type Library,
  open,
  sentinelClientOf,
} from './support.js';

const SHARED = { connection: 'shared' } as const;

const IOREDIS = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};
const BARE = { disableOfflineQueue: true };
const GOOD = { ioredis: IOREDIS, iovalkey: IOREDIS, redis: BARE };
const IOREDIS_CLUSTER = { enableOfflineQueue: false, retryDelayOnFailover: 0 };
const GOOD_CLUSTER = {
  ioredis: IOREDIS_CLUSTER,
  iovalkey: IOREDIS_CLUSTER,
  redis: { defaults: BARE },
};
const GOOD_SENTINEL = {
  ioredis: IOREDIS,
  iovalkey: IOREDIS,
  redis: { maxCommandRediscovers: 0, nodeClientOptions: BARE },
};

type Client = Awaited<
  ReturnType<typeof clientOf | typeof clusterClientOf | typeof sentinelClientOf>
>;

/** As its owner does: with a listener of errors. */
async function connected<C extends Client>(client: C): Promise<C> {
  client.on('error', () => {});
  await client.connect();
  if ('destroy' in client) atEnd(() => client.destroy());
  return client;
}

const isOpen = (client: Client) => ('isOpen' in client ? client.isOpen : client.status === 'ready');

describeWithRedis.each(LIBRARIES)('a client of %s that is shared', (library) => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
    await clientOf(library, server.port);
  }, 60_000);
  afterEach(endAll);
  afterAll(() => server?.stop());

  it('is used as it is, and never closed', async () => {
    const client = await connected(await clientOf(library, server.port, GOOD[library]));
    const connection = open(client, SHARED);
    expect(connection.ready).toBe(true);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
    connection.close();
    expect(connection.ready).toBe(false);
    await expect(count(connection)).rejects.toThrow('Not connected to Redis');
    expect(isOpen(client)).toBe(true);
  });

  it('does not run a command again whose reply was lost, and tells when it is back', async () => {
    const proxy = await TcpProxy.to(server.port);
    atEnd(() => proxy.stop());
    await server.send('FLUSHALL');
    const client = await connected(await clientOf(library, proxy.port, GOOD[library]));
    const connection = open(client, SHARED);
    const changes = new Set<boolean>();
    connection.onChange(() => changes.add(connection.ready));
    proxy.dropNextReply('INCR');
    await expect(count(connection)).rejects.toThrow();
    await until('it was away and is back', () => changes.size === 2 && connection.ready);
    await expect(count(connection)).resolves.toEqual([2, 'a']);
  });

  it('answers numbers and text whatever it maps them to', async () => {
    await server.send('FLUSHALL');
    const odd =
      library === 'redis'
        ? { commandOptions: { typeMapping: { 58: String, 36: Buffer } } }
        : { keyPrefix: 'app:', enableAutoPipelining: true };
    const options = { ...GOOD[library], ...odd };
    const client = await connected(await clientOf(library, server.port, options));
    await expect(count(open(client, SHARED))).resolves.toEqual([1, 'a']);
    await expect(server.send('GET', 'n')).resolves.toBe('1');
  });

  it('of a cluster goes where the key is', async () => {
    const cluster = await RedisCluster.start();
    atEnd(() => cluster.stop());
    const client = await connected(await clusterClientOf(library, cluster, GOOD_CLUSTER[library]));
    const connection = open(client, SHARED);
    await until('it is connected', () => connection.ready);
    expect(connection.cluster).toBe(true);
    for (const key of ['a', 'b', 'c', 'd']) {
      const { port } = await cluster.ownerOfKey(key);
      await expect(connection.send(key, ['INFO', 'server'])).resolves.toContain(`tcp_port:${port}`);
      await until('the node is there', () => count(connection, key));
    }
    connection.close();
    expect(isOpen(client)).toBe(true);
  }, 60_000);

  it('of sentinels goes to the master', async () => {
    const rig = await RedisSentinel.start();
    atEnd(() => rig.stop());
    const options = GOOD_SENTINEL[library];
    const client = await connected(await sentinelClientOf(library, rig, options));
    const connection = open(client, SHARED);
    await until('it is connected', () => connection.ready);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
  }, 60_000);
});

describe('a client that is shared and would keep or resend commands is refused', () => {
  const SERVER: [Library, object, string][] = [
    ['ioredis', {}, 'needs enableOfflineQueue: false, got true'],
    ['iovalkey', {}, 'needs enableOfflineQueue: false, got true'],
    ['redis', {}, 'needs disableOfflineQueue: true, got undefined'],
    [
      'ioredis',
      { enableOfflineQueue: false },
      'needs autoResendUnfulfilledCommands: false, got true',
    ],
    ['ioredis', { ...IOREDIS, maxRetriesPerRequest: 20 }, 'needs maxRetriesPerRequest: 0, got 20'],
    ['ioredis', { ...IOREDIS, stringNumbers: true }, 'needs stringNumbers: false, got true'],
    ['ioredis', { ...IOREDIS, readOnly: true }, 'needs readOnly: false, got true'],
    ['ioredis', { ...IOREDIS, monitor: true }, 'needs monitor: false, got true'],
  ];

  it.each(SERVER)('%s %j', async (library, options, message) => {
    const client = await clientOf(library, 1, options);
    expect(() => openConnection(client, SHARED)).toThrow(TypeError);
    expect(() => openConnection(client, SHARED)).toThrow(message);
    await endAll();
  });

  const rig = { ports: [1], port: 1, name: 'mymaster' } as unknown as RedisCluster & RedisSentinel;

  it.each([
    ['ioredis', {}, 'enableOfflineQueue: false'],
    ['iovalkey', { enableOfflineQueue: false }, 'retryDelayOnFailover: 0, got 100'],
    ['ioredis', { ...IOREDIS_CLUSTER, scaleReads: 'slave' }, 'scaleReads: master, got slave'],
    [
      'ioredis',
      { ...IOREDIS_CLUSTER, redisOptions: { stringNumbers: true } },
      'redisOptions.stringNumbers',
    ],
    ['redis', {}, 'defaults.disableOfflineQueue: true'],
  ] as const)('a cluster of %s %j', async (library, options, message) => {
    const client = await clusterClientOf(library, rig, options);
    expect(() => openConnection(client, SHARED)).toThrow(message);
    await endAll();
  });

  it.each([
    ['ioredis', { ...IOREDIS, role: 'slave' }, 'role: master, got slave'],
    ['redis', {}, 'maxCommandRediscovers: 0'],
    ['redis', { maxCommandRediscovers: 0 }, 'nodeClientOptions.disableOfflineQueue: true'],
  ] as const)('sentinels of %s %j', async (library, options, message) => {
    const client = await sentinelClientOf(library, rig, options);
    expect(() => openConnection(client, SHARED)).toThrow(message);
    await endAll();
  });
});
