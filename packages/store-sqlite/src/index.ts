export { SqliteSessionStore } from './sqlite-session-store.ts';
export type { OpenSqliteOptions, SqliteSessionStoreOptions } from './sqlite-session-store.ts';
export type {
  SqliteDatabase,
  SqliteParameters,
  SqliteRow,
  SqliteStatement,
  SqliteValue,
} from './sqlite-database.ts';
