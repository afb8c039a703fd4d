/* node-redis (the package `redis`): described here as far as it is used. */

/** Options by their names; what they mean is the library's. */
export type Options = Readonly<Record<string, unknown>>;

/** What clients of every kind have. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  /** A cluster tells it from version 6 on. */
  readonly isReady?: boolean;
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
  /** From version 6 on, which is the first to send a command without keys to every node. */
  getNodeClientForKey?(key: string): Promise<NodeRedis>;
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
  return isNodeRedis(client) && 'nodeByAddress' in client;
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
