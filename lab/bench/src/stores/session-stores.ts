import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MemorySessionStore, type SessionStore, type SessionDirectory } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import type { StorePlace } from './store-peer.ts';

/** `sqlite` waits for the disk at every commit (`synchronous = FULL`), as it does by default. */
export type SessionStoreName = 'memory' | 'redis' | 'sqlite' | 'sqlite NORMAL';

/** A store, and what closes it with its database. */
export interface OpenStore {
  readonly store: SessionStore & SessionDirectory;
  readonly close: () => Promise<void>;
}

/** Opens a store of this repository. */
export async function openSessionStore(name: SessionStoreName, place: StorePlace): Promise<OpenStore> {
  switch (name) {
    case 'memory':
      return closedItself(new MemorySessionStore());
    case 'redis':
      return closedItself(await RedisSessionStore.open({ url: place.url }));
    case 'sqlite':
      return closedItself(await SqliteSessionStore.open({ path: join(place.folder, 'sessions.db') }));
    case 'sqlite NORMAL':
      return onDatabase(openDatabase(place, 'NORMAL'));
  }
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
