import {
  commandClassOf,
  type Ioredis,
  type IoredisCluster,
  isIoredisCluster,
} from './ioredis-client.js';
import { type Address, asError, type Dial, PATIENCE_MILLIS, readAddress } from './link.js';
import type { Plan } from './plan.js';

/**
 * One socket without a memory: it dies with its first fault, and with it what was under way.
 * The rest takes back what a user's client may be set to and would change commands or replies.
 */
const BARE = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: null,
  reconnectOnError: null,
  // Asked for by whoever opens the connection.
  enableReadyCheck: false,
  autoResubscribe: false,
  connectTimeout: PATIENCE_MILLIS,
  disconnectTimeout: 10,
  commandTimeout: undefined,
  socketTimeout: undefined,
  keyPrefix: '',
  readOnly: false,
  monitor: false,
  stringNumbers: false,
  protocol: 2,
  replyMapping: 'legacy',
  enableAutoPipelining: false,
  showFriendlyErrorStack: false,
  himportFieldsets: undefined,
};

/** To an address found out otherwise than by the client itself. */
const DIRECT = { sentinels: null, name: null, path: undefined, Connector: undefined };

/** How to connect as this client does. */
export function planOfIoredis(client: Ioredis | IoredisCluster): Plan {
  if (isIoredisCluster(client)) return planOfCluster(client);
  const { options } = client;
  if (!Array.isArray(options['sentinels'])) return { kind: 'server', dial: dialAs(client) };
  const login = {
    username: options['sentinelUsername'] ?? null,
    password: options['sentinelPassword'] ?? null,
    tls: options['sentinelTLS'],
    db: 0,
  };
  const tls = options['enableTLSForSentinelMode'] === true ? options['tls'] : undefined;
  return {
    kind: 'sentinel',
    name: String(options['name']),
    sentinels: options['sentinels'].map((sentinel) => readAddress(sentinel, 26_379)),
    dial: dialAs(client, { tls }),
    dialSentinel: dialAs(client, login),
    natMap: options['natMap'],
  };
}

/** A dial that opens what `new Redis(options)` would, or a duplicate. */
export function dialAs(client: Pick<Ioredis, 'duplicate'>, overrides: object = {}): Dial {
  return (address, events) => {
    const direct = address === undefined ? {} : { ...DIRECT, ...address };
    const duplicate = client.duplicate({ ...BARE, ...overrides, ...direct });
    const Command = commandClassOf(duplicate);
    let cause: Error | undefined;
    duplicate.on('error', (error) => {
      cause = error;
    });
    duplicate.on('ready', () => events.up());
    duplicate.on('close', () => events.gone(cause));
    duplicate.on('end', () => events.gone(cause));
    duplicate.connect().catch((error) => events.gone(cause ?? asError(error)));
    return {
      get up() {
        return duplicate.status === 'ready' && duplicate.stream?.writable === true;
      },
      send: (command) =>
        duplicate.sendCommand(
          new Command(command[0]!, command.slice(1), { replyEncoding: 'utf8' }),
        ),
      close: () => {
        duplicate.disconnect();
        duplicate.stream?.destroy();
      },
    };
  };
}

function planOfCluster(client: IoredisCluster): Plan {
  const { options } = client;
  if (options['useSRVRecords'] === true) {
    throw new TypeError('The Redis store cannot use a Cluster with useSRVRecords: name its nodes');
  }
  const { startupNodes } = client as unknown as { startupNodes: readonly unknown[] };
  // Only the cluster can make a client of one node as its options say; this one connects to nothing.
  const lazy = client.duplicate([], { lazyConnect: true, shardedSubscribers: false });
  const { connectionPool } = lazy as unknown as { connectionPool: Pool };
  const first = typeof startupNodes[0] === 'object' ? startupNodes[0] : {};
  const made = connectionPool.findOrCreate({ ...first, ...readAddress(startupNodes[0]) });
  return {
    kind: 'cluster',
    dial: dialAs('redis' in made ? made.redis : made),
    seeds: startupNodes.map((node) => readAddress(node)),
    natMap: options['natMap'],
  };
}

/** ioredis answers the client, iovalkey a record with it. */
interface Pool {
  findOrCreate(node: Partial<Address>): Ioredis | { readonly redis: Ioredis };
}
