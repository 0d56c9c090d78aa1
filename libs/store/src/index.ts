export type { ListenerErrorHandler } from './announcer.js';
export { MemorySessionStore, type MemorySessionStoreOptions } from './memory/memory-session-store.js';
