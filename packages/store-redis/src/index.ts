export { RedisSessionChannel } from './channel/redis-session-channel.ts';
export type { RedisChannelOptions, RedisSessionChannelOptions } from './channel/redis-session-channel.ts';
export { RedisSessionStore } from './redis-session-store.ts';
export type { RedisSessionStoreOptions, RedisStoreOptions } from './redis-session-store.ts';
export type { RedisConnection } from './server/connect.ts';
export { RedisSpendingLedger } from './spending/redis-spending-ledger.ts';
export type { RedisLedgerOptions, RedisSpendingLedgerOptions } from './spending/redis-spending-ledger.ts';
export type { RedisArgument, RedisBatch, RedisChannelClient, RedisClient } from './server/redis-client.ts';
