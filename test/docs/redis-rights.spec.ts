import { readFileSync } from 'node:fs';
import { RedisStore, type RedisStoreOptions, type RedisTarget } from 'nestjs-doorman/redis';
import { storeContract } from 'nestjs-doorman/testing';
import * as lua from '../../src/stores/redis/lua.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisSentinel } from '../support/redis-sentinel.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { blocksOf } from './blocks.js';

const FILE = 'docs/redis.md';
const LOGIN = { username: 'doorman', password: 'secret' };
const ACL = blocksOf(FILE)
  .find(({ language }) => language === 'redis')!
  .text.trim();

/** The rights of the table's row that names this one. */
function rightsBesides(one: string): string[] {
  const cells = [...readFileSync(FILE, 'utf8').matchAll(/^\| `(\+.*?)` +\|/gm)];
  const rights = cells.map(([, cell]) => cell!.replaceAll('\\|', '|'));
  return rights.find((cell) => cell.split(' ').includes(one))!.split(' ');
}

/** As the document says, and with rights for more. */
async function grant(server: RedisServer, ...besides: string[]): Promise<void> {
  const [, ...words] = ACL.split(' ');
  await server.send('ACL', ...(words as [string]));
  await server.send('ACL', 'SETUSER', 'doorman', ...besides);
  await server.send('ACL', 'LOG', 'RESET');
}

async function denied(server: RedisServer): Promise<unknown[]> {
  const log = (await server.send('ACL', 'LOG')) as unknown[][];
  return log.map((fields) => fields[fields.indexOf('object') + 1]);
}

async function open(target: RedisTarget, more: Partial<RedisStoreOptions> = {}) {
  const options = { prefix: 'shop', time: 'clock', timeoutMillis: 5000, ...more } as const;
  const store = new RedisStore(target, options);
  await until('the store is connected', () => store.connected);
  return store;
}

/** Some of the contract, which is all of it where no words are given. */
async function keepsContract(create: () => Promise<RedisStore>, words = ''): Promise<void> {
  const cases = storeContract(create).filter(({ name }) => name.includes(words));
  for (const { run } of cases) await run();
}

describe('the commands of docs/redis.md', () => {
  it('are those of the scripts, and the few beside', () => {
    const ofScripts = [lua.DECIDE, ...Object.values(lua.SINGLE)].flatMap((text) =>
      [...text.matchAll(/\bp?call_?\('(\w+)'/g)].map(([, name]) => name!.toLowerCase()),
    );
    const granted = [...ACL.matchAll(/ \+(\S+)/g)].map(([, name]) => name);
    const needed = new Set([...ofScripts, 'eval', 'evalsha', 'ping']);
    expect(granted.sort()).toEqual([...needed].sort());
  });
});

describeWithRedis('a user with the rights of docs/redis.md', () => {
  const started: { stop(): Promise<void> }[] = [];
  const starting = async <T extends { stop(): Promise<void> }>(one: Promise<T>): Promise<T> => {
    started.push(await one);
    return one;
  };

  afterEach(() => Promise.all(started.splice(0).map((one) => one.stop())));

  it('may do all that the store needs on a server', async () => {
    const server = await starting(RedisServer.start());
    await grant(server, ...rightsBesides('+info'), ...rightsBesides('+zadd'));
    const url = `redis://127.0.0.1:${server.port}`;
    await keepsContract(() => open({ url, ...LOGIN }, { instances: 'auto' }));
    expect(await denied(server)).toEqual([]);
  }, 60_000);

  it('counts in another database than 0', async () => {
    const server = await starting(RedisServer.start());
    await grant(server, '+info', ...rightsBesides('+select'));
    const store = () => open({ url: `redis://127.0.0.1:${server.port}/3`, ...LOGIN });
    await keepsContract(store, 'concurrent');
    expect(await denied(server)).toEqual([]);
    expect(await server.info('db0')).toBeUndefined();
    expect(await server.info('db3')).toMatch(/^keys=[1-9]/);
  }, 60_000);

  it('may do all that the store needs on a cluster, also while a slot moves', async () => {
    const cluster = await starting(RedisCluster.start());
    const rights = ['+info', ...rightsBesides('+asking')];
    for (const node of cluster.nodes) await grant(node, ...rights);
    const nodes = cluster.ports.map((port) => `127.0.0.1:${port}`);
    const slot = await cluster.slotOf('{alice|/orders}');
    await cluster.beginMove(slot, await cluster.strangerTo(slot));
    await keepsContract(() => open({ nodes, ...LOGIN }), 'joined');
    await cluster.finishMove(slot);
    for (const node of cluster.nodes) expect(await denied(node)).toEqual([]);
  }, 60_000);

  it('may do all that the store needs where sentinels are', async () => {
    const all = await starting(RedisSentinel.start());
    for (const server of all.servers) await grant(server, '+info', ...rightsBesides('+role'));
    const words = ['on', '>secret', ...rightsBesides('+sentinel|get-master-addr-by-name')];
    await all.sentinel.send('ACL', 'SETUSER', 'doorman', 'reset', ...words);
    const sentinels = [`127.0.0.1:${all.port}`];
    const loginThere = { sentinelUsername: 'doorman', sentinelPassword: 'secret' };
    const store = () => open({ sentinels, name: all.name, ...LOGIN, ...loginThere });
    await keepsContract(store, 'concurrent');
    expect(await denied(all.sentinel)).toEqual([]);
    for (const server of all.servers) expect(await denied(server)).toEqual([]);
  }, 60_000);
});
