export { RedisSessionStore } from './redis-session-store.ts';
export type { RedisSessionStoreOptions, RedisStoreOptions } from './redis-session-store.ts';
export type { RedisConnection } from './connect.ts';
export type { RedisArgument, RedisBatch, RedisClient } from './redis-client.ts';
