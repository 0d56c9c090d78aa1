export type { ListenerErrorHandler } from './announcer.js';
export { MemorySessionStore, type MemorySessionStoreOptions } from './memory/memory-session-store.js';
export { DEFAULT_REDIS_TIMEOUTS, type RedisTimeouts } from './redis/connection-profile.js';
export {
  parseRedisUrl,
  type ClusterRedis,
  type RedisAddress,
  type RedisConnection,
  type RedisCredentials,
  type RedisTls,
  type SentinelRedis,
  type SingleRedis,
} from './redis/redis-connection.js';
export type { StateChangeHandler, StoreHealthState } from './redis/redis-health.js';
export type { ServerFacts } from './redis/inspection/inspected-server.js';
export { StoreInspectionFailure } from './redis/inspection/inspection-failure.js';
export { type MissingRight, RedisInspection, type StoreShape } from './redis/inspection/redis-inspection.js';
export { redisConnection, type RedisSettings } from './redis/redis-settings.js';
export { RedisSessionStore, type RedisSessionStoreOptions } from './redis/redis-session-store.js';
export type { KeysOf } from './redis/session-record.js';
