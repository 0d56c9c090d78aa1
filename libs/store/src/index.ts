export * as memoryStore from './memory/merchant-record.js';
export { MemorySessionStore } from './memory/memory-session-store.js';
export { addressOf, type RedisConnection, redisConnection } from './redis/redis-connection.js';
export { grantingLine, RedisInspection, type ServerFacts, StoreInspectionFailure } from './redis/redis-inspection.js';
export { RedisSessionStore } from './redis/redis-session-store.js';
export { NO_DATABASE, remedyOfRefusal } from './redis/redis-failure.js';
