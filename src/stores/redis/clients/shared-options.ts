import {
  type Ioredis,
  type IoredisCluster,
  isIoredisCluster,
  type Options,
} from './ioredis-client.js';
import {
  isNodeRedisCluster,
  isNodeRedisSentinel,
  type NodeRedis,
  type NodeRedisCluster,
  type NodeRedisSentinel,
  optionsOf,
} from './node-redis-client.js';

/** What an option must be, and what happens when it is not. */
type Demand = readonly [name: string, wanted: unknown, otherwise: string];

const QUEUES = 'commands would be kept and act late';
const RESENDS = 'a command whose reply was lost would be executed twice';
const REPLICA = 'a replica takes no writes';
const TEXT = 'numbers would come as text';

const IOREDIS: readonly Demand[] = [
  ['enableOfflineQueue', false, QUEUES],
  ['autoResendUnfulfilledCommands', false, RESENDS],
  ['maxRetriesPerRequest', 0, 'commands whose reply was lost would wait for ever'],
];
const IOREDIS_NODE: readonly Demand[] = [
  ['readOnly', false, REPLICA],
  ['monitor', false, 'it can send no commands'],
  ['stringNumbers', false, TEXT],
];
const IOREDIS_CLUSTER: readonly Demand[] = [
  ['enableOfflineQueue', false, QUEUES],
  ['retryDelayOnFailover', 0, RESENDS],
  ['clusterNodeRetryStrategy', null, RESENDS],
  ['scaleReads', 'master', REPLICA],
];
const NODE_REDIS: readonly Demand[] = [['disableOfflineQueue', true, QUEUES]];

/** @throws TypeError when the client would keep commands, or send them twice */
export function checkIoredis(client: Ioredis | IoredisCluster): void {
  const { options } = client;
  if (isIoredisCluster(client)) {
    demand(options, IOREDIS_CLUSTER);
    demand((options['redisOptions'] ?? {}) as Options, IOREDIS_NODE, 'redisOptions.');
    return;
  }
  demand(options, [...IOREDIS, ...IOREDIS_NODE]);
  if (Array.isArray(options['sentinels'])) demand(options, [['role', 'master', REPLICA]]);
}

/** @throws TypeError when the client would keep commands, or send them twice */
export function checkNodeRedis(client: NodeRedis | NodeRedisCluster | NodeRedisSentinel): void {
  if (isNodeRedisCluster(client)) {
    demand((optionsOf(client)['defaults'] ?? {}) as Options, NODE_REDIS, 'defaults.');
  } else if (isNodeRedisSentinel(client)) {
    const options = optionsOf(client);
    demand(options, [['maxCommandRediscovers', 0, RESENDS]]);
    const ofNodes = (options['nodeClientOptions'] ?? {}) as Options;
    demand(ofNodes, NODE_REDIS, 'nodeClientOptions.');
  } else {
    demand(client.options ?? {}, NODE_REDIS);
  }
}

function demand(options: Options, demands: readonly Demand[], path = ''): void {
  for (const [name, wanted, otherwise] of demands) {
    const given = options[name];
    // Absent is the library's default, which only for these is the one wanted.
    if (given === wanted || (given === undefined && DEFAULTS.has(name))) continue;
    throw new TypeError(
      `A client with connection: 'shared' needs ${path}${name}: ${wanted}, got ${given}: ${otherwise}`,
    );
  }
}

const DEFAULTS: ReadonlySet<string> = new Set([
  ...['readOnly', 'monitor', 'stringNumbers', 'clusterNodeRetryStrategy'],
  ...['role', 'scaleReads'],
]);
