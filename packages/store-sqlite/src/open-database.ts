import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { hasSchema, prepareSchema, type DatabaseLayout } from './schema.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { withStoreErrors, isBusy, isReadOnly, unavailable } from './sqlite-errors.ts';

const MEMORY = ':memory:';
const MAX_LOG_BYTES = 16 * 2 ** 20;
const MAX_WAL_ATTEMPTS = 100;
/** Only the user of the process reads and writes what a store creates. On Windows, modes have no effect. */
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** The databases that this package opened, and closes. */
const ownDatabases = new WeakSet<object>();

export function isOwnDatabase(database: SqliteDatabase): database is DatabaseSync {
  return ownDatabases.has(database);
}

/**
 * Opens a database with a layout of this package. Creates the file and its folder when they are missing, for the user of
 * the process only. The modes of an existing file or folder stay.
 * @throws StateFormatError for a file of another application or schema version, which stays unchanged;
 * StoreUnavailableError when the file cannot be opened.
 */
export function openDatabase(path: string, busyTimeoutSeconds: number, layout: DatabaseLayout): DatabaseSync {
  const location = path === MEMORY ? path : resolve(path);
  const busyTimeout = `PRAGMA busy_timeout = ${Math.ceil(busyTimeoutSeconds * 1000)}`;
  return withStoreErrors({ location, kind: 'read' }, () => {
    if (location !== MEMORY) {
      if (hasContent(location)) checkFile(location, busyTimeout, layout);
      else createPrivately(location);
    }
    const database = connect(location);
    try {
      database.exec(busyTimeout);
      database.exec('PRAGMA secure_delete = ON'); // else the file keeps deleted messages until their pages are used again
      prepareSchema(database, location, layout);
      makeDurable(database, location);
      ownDatabases.add(database);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/**
 * Opens the file. `getBuiltinModule` replaces an import, because some bundlers remove the prefix `node:` of an import,
 * and Node has no module `sqlite`.
 */
function connect(location: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(location, options);
}

/**
 * Creates the schema in an open database, unless it is there. Returns the location for messages: the path of the file,
 * or `:memory:`.
 * @throws StateFormatError for a database of another application or schema version; StoreUnavailableError when SQLite
 * fails.
 */
export function prepareDatabase(database: SqliteDatabase, layout: DatabaseLayout): string {
  const file = withStoreErrors({ location: '(given as an open database)', kind: 'read' }, () => {
    return database.prepare('PRAGMA database_list').get({})?.['file'];
  });
  const location = String(file || MEMORY);
  withStoreErrors({ location, kind: 'read' }, () => prepareSchema(database, location, layout));
  return location;
}

/**
 * Creates an empty file before SQLite opens it, so that other users can read it at no moment. SQLite gives the mode of the
 * file to its write-ahead log and to the index of it. An existing file is not opened: closing it would release the locks
 * of other connections of this process.
 */
function createPrivately(location: string): void {
  try {
    closeSync(openSync(location, 'wx', PRIVATE_FILE));
  } catch {
    // The file exists, or SQLite cannot create it either, and reports why.
  }
}

/** True for a file that is not empty. Creates the folder when it is missing. */
function hasContent(location: string): boolean {
  try {
    mkdirSync(dirname(location), { recursive: true, mode: PRIVATE_FOLDER });
    return (statSync(location, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (error) {
    const message = `The database ${location} could not be opened, because its folder cannot be created or read.`;
    throw unavailable(`${message} Check the path and the permissions of the folder.`, error);
  }
}

/**
 * Returns a function that checks whether the path of an open database still names the opened file. SQLite does not
 * check: it continues to write to a deleted or replaced file, and no other connection can read these writes.
 */
export function fileIdentityCheck(location: string): () => boolean {
  if (location === MEMORY) return () => true;
  const identity = (): string | undefined => {
    try {
      const { dev, ino } = statSync(location, { bigint: true });
      return `${dev} ${ino}`;
    } catch {
      return undefined;
    }
  };
  const opened = identity();
  return () => identity() === opened;
}

/**
 * Refuses a file of another application. The connection is read-only, because a connection that can write would change
 * even such a file: closing it moves the write-ahead log of a crashed process into the file. The header cannot be read
 * without SQLite either, because closing the file would release the locks of the other connections of this process.
 */
function checkFile(location: string, busyTimeout: string, layout: DatabaseLayout): void {
  const database = connect(location, { readOnly: true });
  try {
    database.exec(busyTimeout);
    hasSchema(database, location, layout);
  } catch (error) {
    // The rollback journal of a crashed process must be applied before a read. The writable connection applies it.
    if (!isReadOnly(error)) throw error;
  } finally {
    database.close();
  }
}

/**
 * Makes committed writes durable. With the write-ahead log, they survive the end of the process. Each commit waits for
 * the disk, so that they survive a power failure too.
 */
function makeDurable(database: SqliteDatabase, location: string): void {
  const mode = useWriteAheadLog(database);
  if (mode !== (location === MEMORY ? 'memory' : 'wal')) {
    throw unavailable(
      `The database ${location} cannot use a write-ahead log: its journal mode is "${mode}". Use a file on a local disk.`,
    );
  }
  // A reader that stays can make the log large. SQLite cuts it to this size when it begins the log again.
  database.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`);
}

function useWriteAheadLog(database: SqliteDatabase): string {
  for (let attempts = 1; ; attempts++) {
    try {
      return String(database.prepare('PRAGMA journal_mode = WAL').get({})?.['journal_mode']);
    } catch (error) {
      if (!isBusy(error) || attempts === MAX_WAL_ATTEMPTS) throw error;
    }
    // Another connection opens the new file too. Unlike the PRAGMA, BEGIN EXCLUSIVE waits for it, up to the busy timeout.
    database.exec('BEGIN EXCLUSIVE; ROLLBACK');
  }
}
