export type {
  RedisAddress,
  RedisClient,
  RedisConnectionOptions,
  RedisLogin,
  RedisNodes,
  RedisSentinels,
  RedisTarget,
  RedisUrl,
} from './clients/connect.js';
