import type { RedisConnection } from './connection.js';
import {
  type CommandClass,
  commandClassOf,
  type Ioredis,
  type IoredisCluster,
  isIoredisCluster,
} from './ioredis-client.js';
import { asError } from './link.js';
import {
  isNodeRedisCluster,
  isNodeRedisSentinel,
  type NodeRedis,
  type NodeRedisCluster,
  type NodeRedisSentinel,
} from './node-redis-client.js';

/** The user's client as it is; its options were found good. Never closed here. */
interface SharedClient {
  readonly cluster: boolean;
  readonly ready: () => boolean;
  readonly send: (key: string, command: readonly string[]) => Promise<unknown>;
  readonly on: (event: string, listener: () => void) => unknown;
  readonly off: (event: string, listener: () => void) => unknown;
}

/** Whatever any of the libraries calls a change. Not `error`: to hear it is the owner's. */
const CHANGES = [
  ...['ready', 'close', 'end', 'connect', 'connecting', 'reconnecting', 'terminated', 'disconnect'],
  ...['node-ready', 'node-error', 'node-disconnect', 'topology-change', 'client-error'],
];

/** What node-redis would take from the client instead. */
const PLAIN = { typeMapping: undefined, timeout: undefined };

export class SharedConnection implements RedisConnection {
  readonly cluster: boolean;
  private closed = false;
  private listener: (() => void) | undefined;
  private readonly changed = () => this.listener?.();

  constructor(private readonly client: SharedClient) {
    this.cluster = client.cluster;
    for (const event of CHANGES) client.on(event, this.changed);
  }

  get ready(): boolean {
    return !this.closed && this.client.ready();
  }

  send(key: string, command: readonly string[]): Promise<unknown> {
    if (!this.ready) return Promise.reject(new Error('Not connected to Redis'));
    return this.client.send(key, command);
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const event of CHANGES) this.client.off(event, this.changed);
    this.listener?.();
  }
}

export function shareIoredis(client: Ioredis | IoredisCluster): SharedConnection {
  const cluster = isIoredisCluster(client);
  const Command = commandClassOf(client);
  return new SharedConnection({
    cluster,
    ready: () => client.status === 'ready',
    send: (key, command) => {
      const made = commandOf(Command, command);
      if (!cluster) return client.sendCommand(made);
      // One without keys goes where the key is.
      if (made.getSlot() === null) made.slot = commandOf(Command, ['get', key]).getSlot();
      return client.sendCommand(made).catch(rethrowTryAgain);
    },
    on: (event, listener) => client.on(event, listener),
    off: (event, listener) => client.off(event, listener),
  });
}

export function shareNodeRedis(
  client: NodeRedis | NodeRedisCluster | NodeRedisSentinel,
): SharedConnection {
  return new SharedConnection({
    cluster: isNodeRedisCluster(client),
    ready: () =>
      (client.isReady ?? client.isOpen) &&
      (!isNodeRedisSentinel(client) || client.getMasterNode() !== undefined),
    send: (key, command) => {
      if (isNodeRedisSentinel(client)) return client.sendCommand(false, command, PLAIN);
      if (!isNodeRedisCluster(client)) return client.sendCommand(command, PLAIN);
      if (/^INFO$/i.test(command[0]!) && client.getNodeClientForKey) {
        return client.getNodeClientForKey(key).then((node) => node.sendCommand(command, PLAIN));
      }
      return client.sendCommand(key, false, command, PLAIN);
    },
    on: (event, listener) => client.on(event, listener),
    off: (event, listener) => client.off(event, listener),
  });
}

/** In lower case, as the libraries' table of keys has it. */
function commandOf(Command: CommandClass, [name, ...args]: readonly string[]) {
  return new Command(name!.toLowerCase(), args, { replyEncoding: 'utf8' });
}

/** ioredis tries it again some times, and then puts words of its own before those of the server. */
function rethrowTryAgain(error: unknown): never {
  const text = /TRYAGAIN .*/.exec(asError(error).message)?.[0];
  throw text === undefined ? error : new Error(text, { cause: error });
}
