/* The door of `nestjs-doorman/redis`. */
export type {
  RedisAddress,
  RedisClient,
  RedisLogin,
  RedisNodes,
  RedisSentinels,
  RedisTarget,
  RedisUrl,
} from './clients/target.js';
export type { InstancesOption } from './instances.js';
export type { RedisStoreOptions } from './options.js';
export { RedisStore } from './redis.store.js';
