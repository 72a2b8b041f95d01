import { storeOptionChecks, BackedSessionStore, type StoreOptions } from '@holdfast/core/store';
import { databaseChecks, openOnFile } from './database-options.ts';
import { SESSION_LAYOUT } from './schema.ts';
import { SqliteBackend } from './sqlite-backend.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteDatabase } from './sqlite-database.ts';

/** The options of a store that uses an open database. */
export interface SqliteSessionStoreOptions extends StoreOptions {
  /**
   * An open `DatabaseSync`, empty or with the schema of this package. `close()` does not close it. The store does not
   * change its journal mode, `synchronous` and `busy_timeout`: the application sets durability and lock timeout.
   */
  readonly database: SqliteDatabase;
}

/** The options of a store that opens its own database. */
export interface OpenSqliteOptions extends StoreOptions {
  /**
   * The path of the file. The store creates the file and its folder when they are missing. With `:memory:`, the sessions
   * exist until the store is closed.
   */
  readonly path: string;
  /**
   * The seconds that the store waits for another writer of the same file, default 5. The wait blocks the event loop.
   */
  readonly busyTimeoutSeconds?: number | undefined;
}

const checks = databaseChecks<StoreOptions>('SqliteSessionStore', storeOptionChecks, {
  ttl: 'set "expiry", as in expiry: { afterSeconds: 3600 }',
});

/**
 * Stores sessions in one SQLite file, through `node:sqlite`. The processes of one machine can share the file. The cost
 * of a save depends on the changes since `base`, not on the length of the session.
 *
 * @example
 * const store = await SqliteSessionStore.open({ path: 'data/sessions.db' });
 */
export class SqliteSessionStore extends BackedSessionStore {
  /**
   * Creates a store that uses an open database. Creates the schema in an empty database.
   * @throws StateFormatError for a database of another application or schema version, which stays unchanged;
   * StoreUnavailableError when the database cannot be read or written; RangeError or TypeError `ARGUMENT_INVALID` for an
   * unknown option or an invalid value.
   */
  constructor(init: SqliteSessionStoreOptions) {
    const { database, ...options } = checks.ofNew(init);
    super(new SqliteBackend(new SqliteConnection(database, SESSION_LAYOUT)), options);
  }

  /**
   * Opens a database file and creates a store that uses it. `close()` closes the file.
   * @throws StateFormatError for a file of another application or schema version, which stays unchanged;
   * StoreUnavailableError when the file cannot be opened; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option
   * or an invalid value.
   */
  static open(options: OpenSqliteOptions): Promise<SqliteSessionStore> {
    return openOnFile(checks, options, SESSION_LAYOUT, (given) => new SqliteSessionStore(given));
  }
}
