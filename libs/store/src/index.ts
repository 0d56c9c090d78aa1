export { MemorySessionStore } from './memory/memory-session-store.js';
export { addressOf, parseRedisUrl, type RedisConnection, type RedisCredentials } from './redis/redis-connection.js';
export type { ServerFacts } from './redis/inspection/inspected-server.js';
export { NO_DATABASE } from './redis/redis-failure.js';
export { StoreInspectionFailure } from './redis/inspection/inspection-failure.js';
export { type MissingRight, RedisInspection, type StoreShape } from './redis/inspection/redis-inspection.js';
export { redisConnection } from './redis/redis-settings.js';
export { RedisSessionStore } from './redis/redis-session-store.js';
export { remedyOfRefusal } from './redis/refusal-remedy.js';
