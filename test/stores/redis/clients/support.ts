import {
  openConnection,
  type RedisConnectionOptions,
} from '../../../../src/stores/redis/clients/connect.js';
import type { RedisConnection } from '../../../../src/stores/redis/clients/connection.js';
import type { RedisTarget } from '../../../../src/stores/redis/clients/target.js';
import type { RedisCluster } from '../../../support/redis-cluster.js';
import type { RedisSentinel } from '../../../support/redis-sentinel.js';
import { until } from '../../../support/until.js';

export const LIBRARIES = ['ioredis', 'iovalkey', 'redis'] as const;
export type Library = (typeof LIBRARIES)[number];

const HOST = '127.0.0.1';
/** What a test made, to be ended after it. */
const ends: (() => unknown)[] = [];

export function atEnd(end: () => unknown): void {
  ends.push(end);
}

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

/** Loading a library takes the compiler of the tests seconds, the first time. */
async function load(library: Library) {
  if (library === 'redis') return { redis: await import('redis') };
  const same = library === 'ioredis' ? await import('ioredis') : await import('iovalkey');
  return { redisClass: same as unknown as typeof import('ioredis') };
}

/** A client of one server as a user makes it, with more options of its own, not connected yet. */
export async function clientOf(library: Library, port: number, more: object = {}) {
  const { redis, redisClass } = await load(library);
  if (redis) return redis.createClient({ socket: { host: HOST, port }, ...more });
  const client = new redisClass.Redis({ host: HOST, port, lazyConnect: true, ...more });
  atEnd(() => client.disconnect());
  return client;
}

export async function clusterClientOf(library: Library, cluster: RedisCluster, more: object = {}) {
  const { redis, redisClass } = await load(library);
  const nodes = cluster.ports.map((port) => ({ host: HOST, port }));
  if (redis) {
    return redis.createCluster({ rootNodes: nodes.map((socket) => ({ socket })), ...more });
  }
  const client = new redisClass.Cluster(nodes, { lazyConnect: true, ...more });
  atEnd(() => client.disconnect());
  return client;
}

export async function sentinelClientOf(library: Library, rig: RedisSentinel, more: object = {}) {
  const { redis, redisClass } = await load(library);
  const { name } = rig;
  const sentinels = [{ host: HOST, port: rig.port }];
  if (redis) return redis.createSentinel({ name, sentinelRootNodes: sentinels, ...more });
  const client = new redisClass.Redis({ sentinels, name, lazyConnect: true, ...more });
  atEnd(() => client.disconnect());
  return client;
}

/** A connection that ends with the test. */
export function open(target: RedisTarget, options?: RedisConnectionOptions): RedisConnection {
  const connection = openConnection(target, options);
  atEnd(() => connection.close());
  return connection;
}

export async function opened(
  target: RedisTarget,
  options?: RedisConnectionOptions,
): Promise<RedisConnection> {
  const connection = open(target, options);
  await until('it is connected', () => connection.ready);
  return connection;
}

/** Counts in the server, so that a second run of it is seen. */
export const COUNT = "return {redis.call('INCR', KEYS[1]), ARGV[1]}";

export function count(connection: RedisConnection, key = 'n', word = 'a'): Promise<unknown> {
  return connection.send(key, ['EVAL', COUNT, '1', key, word]);
}

/** Sockets and timers that keep this process alive. */
export function handles(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /TCP|TLS|Timeout|Immediate|GetAddrInfo/.test(name));
}
