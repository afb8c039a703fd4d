import { Redis } from 'ioredis';
import { RateLimitModule } from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';

/** Compiled, never called: each way to a store, with the types of a client. */
export function storesOf(client: Redis) {
  return [
    new RedisStore(client, { prefix: 'teas', instances: 'auto' }),
    new RedisStore({ url: 'redis://127.0.0.1:6379' }, { prefix: 'teas', timeoutMillis: 50 }),
    new RedisStore({ nodes: ['127.0.0.1:7000'] }, { prefix: 'teas' }),
    new RedisStore({ sentinels: ['127.0.0.1:26379'], name: 'mymaster' }, { prefix: 'teas' }),
  ].map((store) => RateLimitModule.forRoot({ store, rules: { default: 'fixed-window,2,10' } }));
}

export function faultyStores(client: Redis) {
  // @ts-expect-error there is no store without a prefix
  new RedisStore(client, {});
  // @ts-expect-error a text is no client
  new RedisStore('redis://127.0.0.1:6379', { prefix: 'teas' });
}
