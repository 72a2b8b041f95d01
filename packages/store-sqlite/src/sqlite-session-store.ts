import { BackedSessionStore } from '@holdfast/core';
import type { StoreOptions } from '@holdfast/core';
import { fileWatch, openDatabase } from './open-database.ts';
import { prepareSchema } from './schema.ts';
import { SqliteBackend } from './sqlite-backend.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { attempt } from './sqlite-errors.ts';

const DEFAULT_BUSY_TIMEOUT_SECONDS = 5;

/** Where to keep sessions, and how. */
export interface SqliteSessionStoreOptions extends StoreOptions {
  /** The file; it and its folder are made when they are missing. `:memory:` keeps sessions as long as the store. */
  readonly path: string;
  /** How long to wait, with the event loop blocked, for another writer of the same file; default 5. */
  readonly busyTimeoutSeconds?: number | undefined;
}

/**
 * Keeps sessions in one SQLite file, through `node:sqlite`. Any number of processes of one machine may share it. A
 * save writes what was added since `base`, however long the session is.
 *
 * @example
 * const store = await SqliteSessionStore.open({ path: 'data/sessions.db' });
 */
export class SqliteSessionStore extends BackedSessionStore {
  private constructor(connection: SqliteConnection, options: StoreOptions) {
    super(new SqliteBackend(connection), options);
  }

  /**
   * A store with a database of its own, which `close()` closes.
   * @throws StateFormatError for a file that is not a session database, or is of another release's layout: it is left
   * as it is; StoreUnavailableError when it cannot be opened; RangeError `ARGUMENT_INVALID` for an option that cannot
   * be.
   */
  static async open(options: SqliteSessionStoreOptions): Promise<SqliteSessionStore> {
    const { path, busyTimeoutSeconds = DEFAULT_BUSY_TIMEOUT_SECONDS } = options;
    const { database, location } = openDatabase(path, busyTimeoutSeconds);
    const isInPlace = fileWatch(location);
    const connection = new SqliteConnection({ database, location, close: () => database.close(), isInPlace });
    try {
      return new SqliteSessionStore(connection, options);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /**
   * A store in an open `DatabaseSync` that holds sessions or nothing. `close()` leaves it open. Its journal mode,
   * `synchronous` and `busy_timeout` stay as they are: durability and waiting are what its owner chose.
   * @throws StateFormatError when there is something else in it; it is left as it is. RangeError `ARGUMENT_INVALID`
   * for an option that cannot be.
   */
  static async from(database: SqliteDatabase, options: StoreOptions = {}): Promise<SqliteSessionStore> {
    const location = '(given as an open database)';
    attempt({ location, isWrite: false }, () => prepareSchema(database, location));
    return new SqliteSessionStore(
      new SqliteConnection({ database, location, close: () => undefined, isInPlace: () => true }),
      options,
    );
  }
}
