import { MemoryStore, type RateLimitStore } from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where counters live: `STORE=redis REDIS_URL=redis://…` counts all instances of the shop together.
 *
 * @throws Error for a STORE that is neither memory nor redis
 */
export function createStore(environment: Environment): RateLimitStore {
  const {
    STORE: store = 'memory',
    REDIS_URL: url = 'redis://127.0.0.1:6379',
    REDIS_TIMEOUT_MILLIS: timeoutMillis = '100',
  } = environment;
  if (store === 'memory') return new MemoryStore();
  if (store !== 'redis') throw new Error(`STORE is memory or redis, got "${store}"`);
  return new RedisStore({ url }, { prefix: 'shop', timeoutMillis: Number(timeoutMillis) });
}
