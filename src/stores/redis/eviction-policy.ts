import type { RedisConnection } from './clients/connection.js';
import type { Health } from './health.js';

const HARMLESS = ['noeviction', 'volatile-ttl'];

/** A counter that Redis evicts is a free refill; it does under most policies, at-limit ones first. */
export async function warnOfEviction(
  connection: RedisConnection,
  anyKey: string,
  health: Health,
): Promise<void> {
  const info = await connection.send(anyKey, ['INFO', 'memory']).catch(() => '');
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(String(info))?.[1];
  const policy = field('maxmemory_policy');
  if (policy === undefined || field('maxmemory') === '0' || HARMLESS.includes(policy)) return;
  health.warn(
    'EVICTION_POLICY',
    `Redis evicts by "${policy}": a counter that is evicted begins anew, so whoever fills its memory gets a free refill. Set maxmemory-policy to noeviction or volatile-ttl`,
  );
}
