import { optionsCheck, storeOptionChecks, BackedSessionStore, type StoreOptions } from '@holdfast/core/store';
import { databaseCheck, DEFAULT_BUSY_TIMEOUT_SECONDS, FILE_CHECKS } from './database-options.ts';
import { fileIdentityCheck, openDatabase, prepareDatabase } from './open-database.ts';
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

const EXPIRY = 'set "expiry", as in expiry: { afterSeconds: 3600 }';
const OPEN = 'use SqliteSessionStore.open({ path: "sessions.db" })';

const checkOptions = optionsCheck<SqliteSessionStoreOptions>(
  'SqliteSessionStore',
  {
    ...storeOptionChecks,
    database: databaseCheck('SqliteSessionStore'),
  },
  { path: OPEN, file: OPEN, filename: OPEN, db: 'use "database"', ttl: EXPIRY },
);

const checkOpenOptions = optionsCheck<OpenSqliteOptions>(
  'SqliteSessionStore.open',
  {
    ...storeOptionChecks,
    ...FILE_CHECKS,
  },
  {
    file: 'use "path"',
    filename: 'use "path"',
    url: 'use "path", as in path: "sessions.db"',
    database: 'use new SqliteSessionStore({ database })',
    timeout: 'use "busyTimeoutSeconds", as in busyTimeoutSeconds: 5',
    ttl: EXPIRY,
  },
);

/**
 * Stores sessions in one SQLite file, through `node:sqlite`. The processes of one machine can share the file. The cost
 * of a save depends on the changes since `base`, not on the length of the session.
 *
 * @example
 * const store = await SqliteSessionStore.open({ path: 'data/sessions.db' });
 */
export class SqliteSessionStore extends BackedSessionStore {
  private readonly connection: SqliteConnection;

  /**
   * Creates a store that uses an open database. Creates the schema in an empty database.
   * @throws StateFormatError for a database of another application or schema version, which stays unchanged;
   * StoreUnavailableError when the database cannot be read or written; RangeError or TypeError `ARGUMENT_INVALID` for an
   * unknown option or an invalid value.
   */
  constructor(init: SqliteSessionStoreOptions) {
    const { database, ...options } = checkOptions(init);
    const connection = new SqliteConnection(database, prepareDatabase(database, SESSION_LAYOUT));
    super(new SqliteBackend(connection), options);
    this.connection = connection;
  }

  /**
   * Opens a database file and creates a store that uses it. `close()` closes the file.
   * @throws StateFormatError for a file of another application or schema version, which stays unchanged;
   * StoreUnavailableError when the file cannot be opened; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option
   * or an invalid value.
   */
  static async open(options: OpenSqliteOptions): Promise<SqliteSessionStore> {
    const { path, busyTimeoutSeconds = DEFAULT_BUSY_TIMEOUT_SECONDS, ...rest } = checkOpenOptions(options);
    const database = openDatabase(path, busyTimeoutSeconds, SESSION_LAYOUT);
    try {
      const store = new SqliteSessionStore({ ...rest, database });
      store.connection.closeDatabase = () => database.close();
      store.connection.isSameFile = fileIdentityCheck(store.connection.location);
      return store;
    } catch (error) {
      database.close();
      throw error;
    }
  }
}
