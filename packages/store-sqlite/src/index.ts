export { SqliteSessionChannel } from './channel/sqlite-session-channel.ts';
export type { SqliteSessionChannelOptions } from './channel/sqlite-session-channel.ts';
export { SqliteSessionStore } from './sqlite-session-store.ts';
export type { OpenSqliteOptions, SqliteSessionStoreOptions } from './sqlite-session-store.ts';
export type {
  SqliteDatabase,
  SqliteParameters,
  SqliteRow,
  SqliteStatement,
  SqliteValue,
} from './sqlite-database.ts';
export { SqliteSpendingLedger } from './spending/sqlite-spending-ledger.ts';
export type {
  OpenSqliteLedgerOptions,
  SqliteSpendingLedgerOptions,
} from './spending/sqlite-spending-ledger.ts';
