import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MemorySessionStore, type SessionStore, type SessionDirectory } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import type { StorePlace } from './store-peer.ts';

/** A store, and what closes it with its database. */
export interface OpenStore {
  readonly store: SessionStore & SessionDirectory;
  readonly close: () => Promise<void>;
}

/** `sqlite` waits for the disk at every commit (`synchronous = FULL`), as it does by default. */
const STORES = {
  memory: async () => closedItself(new MemorySessionStore()),
  redis: async ({ url }) => closedItself(await RedisSessionStore.open({ url })),
  sqlite: async ({ folder }) =>
    closedItself(await SqliteSessionStore.open({ path: join(folder, 'sessions.db') })),
  'sqlite NORMAL': async (place) => onDatabase(openDatabase(place, 'NORMAL')),
} satisfies Readonly<Record<string, (place: StorePlace) => Promise<OpenStore>>>;

export type SessionStoreName = keyof typeof STORES;

/** Opens a store of this repository. */
export function openSessionStore(name: SessionStoreName, place: StorePlace): Promise<OpenStore> {
  return STORES[name](place);
}

function closedItself(store: OpenStore['store']): OpenStore {
  return { store, close: () => store.close() };
}

function onDatabase(database: DatabaseSync): OpenStore {
  const store = new SqliteSessionStore({ database });
  const close = async (): Promise<void> => {
    await store.close();
    database.close();
  };
  return { store, close };
}

/** A database with a write-ahead log in the folder of a store. */
export function openDatabase(
  { folder }: Pick<StorePlace, 'folder'>,
  synchronous: 'FULL' | 'NORMAL',
): DatabaseSync {
  const database = new DatabaseSync(join(folder, 'database.db'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  return database;
}
