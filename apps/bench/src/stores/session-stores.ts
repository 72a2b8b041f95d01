import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SessionStore } from '@holdfast/core';
import { MemorySessionStore } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import type { StorePlace } from './store-peer.ts';

/** `sqlite` waits for the disk at every commit (`synchronous = FULL`), as it does by default. */
export type SessionStoreName = 'memory' | 'redis' | 'sqlite' | 'sqlite NORMAL';

/** Opens a store of this repository. */
export async function openSessionStore(name: SessionStoreName, place: StorePlace): Promise<SessionStore> {
  switch (name) {
    case 'memory':
      return new MemorySessionStore();
    case 'redis':
      return RedisSessionStore.open({ url: place.url });
    case 'sqlite':
      return SqliteSessionStore.open({ path: join(place.folder, 'sessions.db') });
    case 'sqlite NORMAL':
      return new SqliteSessionStore({ database: openDatabase(place, 'NORMAL') });
  }
}

/** A database with a write-ahead log in the folder of a store. */
export function openDatabase({ folder }: StorePlace, synchronous: 'FULL' | 'NORMAL'): DatabaseSync {
  const database = new DatabaseSync(join(folder, 'database.db'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  return database;
}
