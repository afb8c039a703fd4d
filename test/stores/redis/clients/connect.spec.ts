import { openConnection } from '../../../../src/stores/redis/clients/connect.js';
import type { RedisTarget } from '../../../../src/stores/redis/clients/target.js';
import { RedisCluster } from '../../../support/redis-cluster.js';
import { RedisSentinel } from '../../../support/redis-sentinel.js';
import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { until } from '../../../support/until.js';
import { atEnd, clientOf, count, endAll, LIBRARIES, open, opened } from './support.js';

/** A library that is not installed. */
const missing = (name: string) => () => {
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
};

afterEach(async () => {
  await endAll();
  for (const name of LIBRARIES) jest.dontMock(name);
  jest.resetModules();
});

describe('what is neither a client nor an address', () => {
  const refused = (given: unknown) => {
    const connect = () => openConnection(given as RedisTarget);
    expect(connect).toThrow(TypeError);
    return expect(connect);
  };

  it('is refused, with what was given and what is taken', async () => {
    refused(undefined).toThrow('{ url }, { nodes } or { sentinels, name }');
    refused(undefined).toThrow('got undefined');
    refused('redis://localhost').toThrow('got redis://localhost');
    refused({ host: 'localhost' }).toThrow('got {"host":"localhost"}');
    refused(new Map()).toThrow('got Map {}');
    refused(Promise.resolve()).toThrow('got a Promise: await it');
    refused({ url: 'http://localhost' }).toThrow('redis:// or rediss://, got http://localhost');
    const { createClientPool } = await import('redis');
    refused(createClientPool()).toThrow('got a pool of node-redis');
    expect(() => openConnection({ url: 'redis://h' }, { connection: 'shared' })).toThrow(
      `connection: 'shared' a client`,
    );
  }, 60_000);
});

describeWithRedis('an address', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start({ password: 'a b/c' });
    for (const library of LIBRARIES) await clientOf(library, server.port);
  }, 60_000);
  afterAll(() => server?.stop());

  it.each(LIBRARIES)(
    'is connected to with %s when that is the only one installed',
    async (library) => {
      for (const name of LIBRARIES) {
        if (name !== library) jest.doMock(name, missing(name));
      }
      await server.send('FLUSHALL').catch(() => {});
      const url = `redis://:a%20b%2Fc@127.0.0.1:${server.port}/3`;
      const connection = await opened({ url });
      await expect(connection.send('n', ['DEL', 'n'])).resolves.toEqual(expect.any(Number));
      await expect(count(connection)).resolves.toEqual([1, 'a']);
      await expect(server.info('db3')).resolves.toMatch(/^keys=1,/);
    },
    60_000,
  );

  it('without any library says what to install', async () => {
    for (const name of LIBRARIES) jest.doMock(name, missing(name));
    const errors: string[] = [];
    const connection = open(
      { url: 'redis://x' },
      { onError: ({ message }) => errors.push(message) },
    );
    await until('it is told', () => errors.length > 0);
    expect(errors[0]).toBe('The Redis store needs a client library: npm install ioredis');
    expect(connection.ready).toBe(false);
  });

  it('of a server takes user, password and database beside the url', async () => {
    const url = `redis://127.0.0.1:${server.port}`;
    const connection = await opened({ url, username: 'default', password: 'a b/c', db: 2 });
    await connection.send('n', ['DEL', 'n']);
    await expect(count(connection)).resolves.toEqual([1, 'a']);
    await expect(server.info('db2')).resolves.toMatch(/^keys=1,/);
  });

  it('of some nodes is that of their cluster', async () => {
    const cluster = await RedisCluster.start();
    atEnd(() => cluster.stop());
    // A name that the nodes do not call themselves by.
    const connection = await opened({ nodes: [`localhost:${cluster.ports[1]}`] });
    expect(connection.cluster).toBe(true);
    for (const key of ['a', 'b', 'c', 'd']) await until('it counts', () => count(connection, key));
  }, 60_000);

  it('of sentinels is that of the master they name', async () => {
    const rig = await RedisSentinel.start();
    atEnd(() => rig.stop());
    const sentinels = [{ host: '127.0.0.1', port: rig.port }];
    const connection = await opened({ sentinels, name: rig.name });
    await expect(count(connection)).resolves.toEqual([1, 'a']);
  }, 60_000);
});
