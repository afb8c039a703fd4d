import { ClusterConnection } from './cluster.js';
import type { RedisConnection } from './connection.js';
import { isIoredis } from './ioredis-client.js';
import { Line } from './line.js';
import { reachWith } from './link.js';
import { isNodeRedis } from './node-redis-client.js';
import type { Plan } from './plan.js';
import { connectBySentinel } from './sentinel.js';
import { shareIoredis, shareNodeRedis } from './shared.js';
import { checkIoredis, checkNodeRedis } from './shared-options.js';
import { planOf, type RedisTarget, unknownTarget } from './target.js';

export interface RedisConnectionOptions {
  /**
   * `own` (default): a connection of the store's own, to the same place and with the same login as
   * the client, which stays untouched. `shared`: the client itself, which must neither keep
   * commands while it is not connected nor send them again, and is never closed.
   */
  readonly connection?: 'own' | 'shared' | undefined;
  /** Told of every connection that failed or was lost, and of a library that cannot be loaded. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Connects, in the background: `ready` tells since when.
 *
 * @throws TypeError when the target is none, or a shared client is set to keep or resend commands
 */
export function openConnection(
  target: RedisTarget,
  { connection = 'own', onError }: RedisConnectionOptions = {},
): RedisConnection {
  if (typeof target !== 'object' || target === null) throw unknownTarget(target);
  if (connection !== 'shared') return connect(planOf(target), onError);
  if (isIoredis(target)) {
    checkIoredis(target);
    return shareIoredis(target);
  }
  if (isNodeRedis(target)) {
    checkNodeRedis(target);
    return shareNodeRedis(target);
  }
  throw unknownTarget(target);
}

function connect(plan: Plan, onError?: (error: Error) => void): RedisConnection {
  if (plan.kind === 'cluster') return new ClusterConnection(plan, onError);
  if (plan.kind === 'sentinel') return connectBySentinel(plan, onError);
  return new Line(reachWith(plan.dial, plan.address), { onError });
}
