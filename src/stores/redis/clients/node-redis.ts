/* node-redis (the package `redis`): described here as far as it is used. */
import { asError, type Dial, PATIENCE_MILLIS, readAddress } from './link.js';
import { awaitedLater, type Plan } from './plan.js';

export type Options = Readonly<Record<string, unknown>>;

/** What clients of every kind have. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): unknown;
  on(event: string, listener: (error?: Error) => void): unknown;
  off(event: string, listener: (error?: Error) => void): unknown;
}

/** A client of one server. */
export interface NodeRedis extends NodeRedisClient {
  readonly options?: Options | undefined;
  duplicate(overrides?: object): NodeRedis;
  sendCommand(command: readonly string[], options?: object): Promise<unknown>;
}

export interface NodeRedisCluster extends NodeRedisClient {
  readonly masters: readonly { readonly client?: NodeRedis }[];
  getNodeClientForKey(key: string, isReadonly?: boolean): Promise<NodeRedis>;
  sendCommand(
    key: string,
    isReadonly: boolean,
    command: readonly string[],
    options?: object,
  ): Promise<unknown>;
}

export interface NodeRedisSentinel extends NodeRedisClient {
  getMasterNode(): object | undefined;
  sendCommand(isReadonly: boolean, command: readonly string[], options?: object): Promise<unknown>;
}

/** Makes the client of one server. */
export type CreateClient = (options: object) => NodeRedis;

/** As BARE of ioredis. A default of five seconds stands behind `timeout`, at the cost of a timer each. */
const BARE = {
  url: undefined,
  RESP: 2,
  disableOfflineQueue: true,
  commandOptions: { timeout: undefined },
  maintNotifications: 'disabled',
  clientSideCache: undefined,
  emitInvalidate: false,
  commandsQueueMaxLength: undefined,
  pingInterval: undefined,
  keyPrefix: undefined,
  readonly: false,
};
const BARE_SOCKET = {
  reconnectStrategy: false,
  connectTimeout: PATIENCE_MILLIS,
  socketTimeout: undefined,
};

export function isNodeRedis(
  client: object,
): client is NodeRedis | NodeRedisCluster | NodeRedisSentinel {
  const { isOpen, duplicate, destroy } = client as Partial<NodeRedisClient>;
  return (
    typeof isOpen === 'boolean' &&
    typeof duplicate === 'function' &&
    typeof destroy === 'function' &&
    !('totalClients' in client)
  );
}

export function isNodeRedisCluster(client: object): client is NodeRedisCluster {
  return isNodeRedis(client) && 'getNodeClientForKey' in client;
}

export function isNodeRedisSentinel(client: object): client is NodeRedisSentinel {
  return isNodeRedis(client) && 'getMasterNode' in client;
}

/**
 * The options that a client of a cluster or of sentinels was made with. It hands them to the
 * constructor of its duplicate and to nobody else: so this is the constructor.
 */
export function optionsOf(client: NodeRedisCluster | NodeRedisSentinel): Options {
  let found: Options = {};
  class Duplicate {
    constructor(options: Options) {
      found = options;
    }
  }
  const { _self, duplicate } = client as unknown as { _self: object; duplicate(): unknown };
  duplicate.call(Object.create(Duplicate.prototype, { _self: { value: _self } }));
  return found;
}

/** How to connect as this client does; `create` makes the clients of single nodes. */
export function planOfNodeRedis(
  client: NodeRedis | NodeRedisCluster | NodeRedisSentinel,
  create: () => Promise<CreateClient>,
): Plan {
  if (isNodeRedisCluster(client)) {
    const { rootNodes, defaults, nodeAddressMap } = optionsOf(client);
    return {
      kind: 'cluster',
      dial: awaitedLater(create().then((make) => dialAs(make, defaults as Options))),
      seeds: (rootNodes as readonly Options[]).map(({ url, socket }) => readAddress(url ?? socket)),
      natMap: nodeAddressMap,
    };
  }
  if (isNodeRedisSentinel(client)) {
    const options = optionsOf(client);
    const as = (one: unknown) =>
      awaitedLater(create().then((make) => dialAs(make, one as Options | undefined)));
    return {
      kind: 'sentinel',
      name: String(options['name']),
      sentinels: (options['sentinelRootNodes'] as readonly unknown[]).map((node) =>
        readAddress(node, 26_379),
      ),
      dial: as(options['nodeClientOptions']),
      dialSentinel: as(options['sentinelClientOptions']),
      natMap: options['nodeAddressMap'],
    };
  }
  const { options } = client;
  return { kind: 'server', dial: dialAs((overrides) => client.duplicate(overrides), options) };
}

export function dialAs(create: CreateClient, options: Options = {}): Dial {
  return (address, events) => {
    const socket = { ...(options['socket'] as object | undefined), ...BARE_SOCKET, ...address };
    const client = create({ ...options, ...BARE, socket });
    let closed = false;
    const end = () => {
      closed = true;
      try {
        client.destroy();
      } catch {
        // It was never open, which version 5 minds.
      }
    };
    // After the client has told those who wait for replies.
    client.on('error', (error) => queueMicrotask(() => events.gone(error)));
    client.on('end', () => events.gone());
    // A socket that was on its way when the client was destroyed arrives all the same, and stays.
    client.on('connect', () => closed && end());
    client.on('ready', () => (closed ? end() : events.up()));
    client.connect().catch((error) => events.gone(asError(error)));
    return {
      get up() {
        return client.isReady;
      },
      send: (command) => client.sendCommand(command),
      close: end,
    };
  };
}
