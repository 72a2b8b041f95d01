import type { SessionStore, SessionDirectory } from '@holdfast/core';

/** A store with the sessions of all owners. */
export type Store = SessionStore & SessionDirectory;

/**
 * Opens a store at a location. While a write is under way, not yet done or not yet acknowledged, it calls `midWrite`.
 */
export type OpenStore = (location: string, midWrite?: () => void) => Promise<Store>;

/** The stores that sessions can be kept in, by name. A process loads only the one that it uses. */
export const STORES: Readonly<Record<string, OpenStore>> = {
  sqlite: async (...where) => (await import('./sqlite.ts')).openSqlite(...where),
  redis: async (...where) => (await import('./redis.ts')).openRedis(...where),
  dynamodb: async (...where) => (await import('./dynamodb.ts')).openDynamoDb(...where),
};
