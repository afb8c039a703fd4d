/* The product and its peers over one ioredis client each: may this key? */

import { until } from '../lib/redis.mjs';
import { PRODUCT } from '../lib/rows.mjs';

/** No limiter at all, but what one command of the client costs. */
export const CONTROL = 'one INCR, no limiter';
export const PEERS = {
  express: 'rate-limit-redis',
  flexible: 'rate-limiter-flexible',
  throttler: '@nest-lab/throttler-storage-redis',
};
export const PEER_NAMES = Object.values(PEERS);

/** A limit that nobody reaches, in a window that does not end; so every key stays. */
const LIMIT = 1_000_000_000;
const WINDOW_MILLIS = 3_600_000;

/** Answers `(key) => promise` for a subject on that client. */
export async function createSubject(name, client) {
  return MAKERS[name](client);
}

const MAKERS = {
  [CONTROL]: (client) => (key) => client.incr(key),

  async [PRODUCT](client) {
    const { LimiterFactory, SystemClock } = await import('../../dist/esm/core/index.js');
    const { RedisStore } = await import('../../dist/esm/stores/redis/index.js');
    // A deadline that a busy machine does not reach: what is decided without Redis is no measure.
    const store = new RedisStore(client, { prefix: 'bench', timeoutMillis: 10_000 });
    await until(() => store.connected);
    const limiter = new LimiterFactory(new SystemClock()).createKeyed(
      `token-bucket,1000,${WINDOW_MILLIS}ms,burst=${LIMIT}`,
      { store },
    );
    return async (key) => {
      const decision = await limiter.tryAcquire(key);
      if (decision.degraded || !decision.allowed) throw new Error('Not decided by Redis');
    };
  },

  async [PEERS.express](client) {
    const { RedisStore } = await import('rate-limit-redis');
    const store = new RedisStore({
      sendCommand: (command, ...args) => client.call(command, ...args),
    });
    store.init({ windowMs: WINDOW_MILLIS });
    return (key) => store.increment(key);
  },

  async [PEERS.flexible](client) {
    const { RateLimiterRedis } = await import('rate-limiter-flexible');
    const limiter = new RateLimiterRedis({
      storeClient: client,
      points: LIMIT,
      duration: WINDOW_MILLIS / 1000,
    });
    return (key) => limiter.consume(key);
  },

  async [PEERS.throttler](client) {
    const { ThrottlerStorageRedisService } = await import('@nest-lab/throttler-storage-redis');
    const storage = new ThrottlerStorageRedisService(client);
    return (key) => storage.increment(key, WINDOW_MILLIS, LIMIT, WINDOW_MILLIS, 'default');
  },
};
