import { asError, type Dial, PATIENCE_MILLIS, readAddress } from './link.js';
import {
  type CreateClient,
  isNodeRedisCluster,
  isNodeRedisSentinel,
  type NodeRedis,
  type NodeRedisCluster,
  type NodeRedisSentinel,
  type Options,
  optionsOf,
} from './node-redis-client.js';
import { awaitedLater, type Plan } from './plan.js';

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
        return client.isReady === true;
      },
      send: (command) => client.sendCommand(command),
      close: end,
    };
  };
}
