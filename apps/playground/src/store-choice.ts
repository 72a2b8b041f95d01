import { join } from 'node:path';
import { MemorySessionStore } from '@holdfast/core';
import type { SessionStore } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

/** Opens a store for a data folder. */
type OpenStore = (data: string) => Promise<SessionStore>;

const stores = {
  sqlite: (data) => SqliteSessionStore.open({ path: join(data, 'sessions.db') }),
  memory: async () => new MemorySessionStore(),
} satisfies Readonly<Record<string, OpenStore>>;

/** What keeps the sessions. */
export type StoreName = keyof typeof stores;

export function openStore(name: StoreName, data: string): Promise<SessionStore> {
  return stores[name](data);
}
