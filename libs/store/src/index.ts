export * as memoryStore from './memory/merchant-record.js';
export { MemorySessionStore } from './memory/memory-session-store.js';
export { addressOf, parseRedisUrl, redisConnection } from './redis/redis-connection.js';
export type { RedisConnection, RedisCredentials } from './redis/redis-connection.js';
export { grantingLine } from './redis/inspection/command-rights.js';
export { type MissingRight, RedisInspection } from './redis/inspection/redis-inspection.js';
export { type ServerFacts, StoreInspectionFailure } from './redis/inspection/redis-inspection.js';
export { RedisSessionStore } from './redis/redis-session-store.js';
export { NO_DATABASE, remedyOfRefusal } from './redis/redis-failure.js';
