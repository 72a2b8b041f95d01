import { mustBe, optionsCheck, storeOptionChecks } from '@holdfast/core/store';
import { BackedSessionStore } from '@holdfast/core/store';
import type { StoreOptions } from '@holdfast/core/store';
import { fileIdentityCheck, openDatabase, prepareDatabase } from './open-database.ts';
import { SqliteBackend } from './sqlite-backend.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteDatabase } from './sqlite-database.ts';

const DEFAULT_BUSY_TIMEOUT_SECONDS = 5;
const MAX_BUSY_TIMEOUT_SECONDS = 2_000_000;

/** How sessions are kept, in a database of yours. */
export interface SqliteSessionStoreOptions extends StoreOptions {
  /**
   * An open `DatabaseSync` that holds sessions or nothing. It stays open when the store is closed. Its journal mode,
   * `synchronous` and `busy_timeout` stay as they are: durability and waiting are what its owner chose.
   */
  readonly database: SqliteDatabase;
}

/** Where to keep sessions, and how. */
export interface OpenSqliteOptions extends StoreOptions {
  /** The file; it and its folder are made when they are missing. `:memory:` keeps sessions as long as the store. */
  readonly path: string;
  /** How long to wait, with the event loop blocked, for another writer of the same file; default 5. */
  readonly busyTimeoutSeconds?: number | undefined;
}

const EXPIRY = 'give an expiry, as in expiry: { afterSeconds: 3600 }';
const OPEN = 'SqliteSessionStore.open({ path: "sessions.db" }) opens a file';

const checkOptions = optionsCheck<SqliteSessionStoreOptions>(
  'SqliteSessionStore',
  {
    ...storeOptionChecks,
    database: mustBe.required(
      mustBe.objectWith('an open DatabaseSync, or use SqliteSessionStore.open({ path })', [
        'exec',
        'prepare',
      ]),
    ),
  },
  { path: OPEN, file: OPEN, filename: OPEN, db: 'write "database"', ttl: EXPIRY },
);

const checkOpenOptions = optionsCheck<OpenSqliteOptions>(
  'SqliteSessionStore.open',
  {
    ...storeOptionChecks,
    path: mustBe.required({
      expected: 'the name of a file, or ":memory:"',
      accepts: (value) => typeof value === 'string' && value !== '',
      type: 'string',
    }),
    busyTimeoutSeconds: mustBe.number(0, MAX_BUSY_TIMEOUT_SECONDS),
  },
  {
    file: 'write "path"',
    filename: 'write "path"',
    url: 'give a path, as in path: "sessions.db"',
    database: 'new SqliteSessionStore({ database }) takes an open one',
    timeout: 'give seconds, as in busyTimeoutSeconds: 5',
    ttl: EXPIRY,
  },
);

/**
 * Keeps sessions in one SQLite file, through `node:sqlite`. Any number of processes of one machine may share it. A
 * save writes what was added since `base`, however long the session is.
 *
 * @example
 * const store = await SqliteSessionStore.open({ path: 'data/sessions.db' });
 */
export class SqliteSessionStore extends BackedSessionStore {
  private readonly connection: SqliteConnection;

  /**
   * @throws StateFormatError when there is something else in the database: it is left as it is; StoreUnavailableError
   * when it does not answer; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit.
   */
  constructor(init: SqliteSessionStoreOptions) {
    const { database, ...options } = checkOptions(init);
    const connection = new SqliteConnection(database, prepareDatabase(database));
    super(new SqliteBackend(connection), options);
    this.connection = connection;
  }

  /**
   * A store with a database of its own, which `close()` closes.
   * @throws StateFormatError for a file that is not a session database, or is of another release's layout: it is left
   * as it is; StoreUnavailableError when it cannot be opened; RangeError or TypeError `ARGUMENT_INVALID` for an unknown option
   * or a value that does not fit.
   */
  static async open(options: OpenSqliteOptions): Promise<SqliteSessionStore> {
    const { path, busyTimeoutSeconds = DEFAULT_BUSY_TIMEOUT_SECONDS, ...rest } = checkOpenOptions(options);
    const database = openDatabase(path, busyTimeoutSeconds);
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
