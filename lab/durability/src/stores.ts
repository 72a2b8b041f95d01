import type { SessionStore, SessionDirectory } from '@holdfast/core';

/** A store with the sessions of all owners. */
export type Store = SessionStore & SessionDirectory;

/**
 * Opens a store at a location. While a write is under way, not yet done or not yet acknowledged, it calls `midWrite`.
 */
type OpenStore = (location: string, midWrite?: () => void) => Promise<Store>;

/** The stores that sessions can be kept in, by name. A process loads only the one that it uses. */
const STORES: Readonly<Record<string, OpenStore>> = {
  sqlite: async (...where) => (await import('./sqlite.ts')).openSqlite(...where),
  redis: async (...where) => (await import('./redis.ts')).openRedis(...where),
  dynamodb: async (...where) => (await import('./dynamodb.ts')).openDynamoDb(...where),
};

/** Opens the store with a name. @throws Error for an unknown name. */
export async function openStore(name: string, ...where: Parameters<OpenStore>): Promise<Store> {
  const open = STORES[name];
  if (open === undefined) throw new Error(`There is no store "${name}".`);
  return open(...where);
}
