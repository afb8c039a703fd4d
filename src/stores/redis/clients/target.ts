import { show } from '../../../core/fault.js';
import { planOfIoredis } from './ioredis.js';
import { isIoredis } from './ioredis-client.js';
import { type Dial, readAddress } from './link.js';
import { type Login, loadCreateClient, loadDial } from './load.js';
import { planOfNodeRedis } from './node-redis.js';
import { isNodeRedis } from './node-redis-client.js';
import { awaitedLater, type Plan, type ServerPlan } from './plan.js';

/** A client of ioredis, iovalkey or node-redis: of one server, of sentinels, or of a cluster. */
export type RedisClient =
  | { readonly status: string; duplicate(...args: never[]): unknown }
  | { readonly isOpen: boolean; duplicate(...args: never[]): unknown };

/** `host:port`, `redis://host:port`, or both parts; the port is 6379 by default. */
export type RedisAddress = string | { readonly host: string; readonly port?: number };

/** How to log in, the same everywhere. */
export interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
  /** `true`, or options of `tls.connect`. */
  readonly tls?: boolean | object;
}

/** One server: `redis://user:password@host:port/db`, `rediss://` with TLS. */
export interface RedisUrl extends RedisLogin {
  readonly url: string;
  readonly db?: number;
}

/** Some nodes of a cluster; they tell the others. */
export interface RedisNodes extends RedisLogin {
  readonly nodes: readonly RedisAddress[];
}

/** Sentinels, port 26379 by default, and what they call the master. */
export interface RedisSentinels extends RedisLogin {
  readonly sentinels: readonly RedisAddress[];
  readonly name: string;
  readonly db?: number;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly sentinelTls?: boolean | object;
}

/** A client, or where to connect to with whichever of the libraries is installed. */
export type RedisTarget = RedisClient | RedisUrl | RedisNodes | RedisSentinels;

/** @throws TypeError when it is none */
export function planOf(target: RedisTarget): Plan {
  if (isIoredis(target)) return planOfIoredis(target);
  if (isNodeRedis(target)) return planOfNodeRedis(target, loadCreateClient);
  if ('url' in target) return planOfUrl(target);
  if ('nodes' in target) {
    const seeds = target.nodes.map((node) => readAddress(node));
    return { kind: 'cluster', dial: dialWith(target), seeds };
  }
  if (!('sentinels' in target)) throw unknownTarget(target);
  const { sentinelUsername, sentinelPassword, sentinelTls, name } = target;
  return {
    kind: 'sentinel',
    name,
    sentinels: target.sentinels.map((sentinel) => readAddress(sentinel, 26_379)),
    dial: dialWith(target),
    dialSentinel: dialWith({
      username: sentinelUsername,
      password: sentinelPassword,
      tls: sentinelTls,
    }),
  };
}

function planOfUrl({ url, ...login }: RedisUrl): ServerPlan {
  if (!/^rediss?:\/\//.test(url)) {
    throw new TypeError(`The url of Redis begins with redis:// or rediss://, got ${show(url)}`);
  }
  const { username, password, protocol, pathname } = new URL(url);
  const inUrl = {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 && { db: Number(pathname.slice(1)) }),
    ...(protocol === 'rediss:' && { tls: true }),
  };
  return { kind: 'server', dial: dialWith({ ...inUrl, ...login }), address: readAddress(url) };
}

function dialWith(login: Login): Promise<Dial> {
  return awaitedLater(loadDial(login));
}

export function unknownTarget(given: unknown): TypeError {
  return new TypeError(
    'The Redis store takes a client of ioredis, iovalkey or redis (createClient, createCluster, ' +
      'createSentinel), { url }, { nodes } or { sentinels, name }, or with ' +
      `connection: 'shared' a client; got ${describe(given)}`,
  );
}

function describe(given: unknown): string {
  if (typeof given !== 'object' || given === null) return show(given);
  if ('then' in given) return 'a Promise: await it';
  if ('totalClients' in given) return 'a pool of node-redis: hand in a client';
  if ('getMasterNode' in given)
    return 'createSentinel of redis 5: use redis 6 or { sentinels, name }';
  const name = given.constructor?.name ?? 'Object';
  return name === 'Object' ? show(given) : `${name} ${show(given)}`;
}
