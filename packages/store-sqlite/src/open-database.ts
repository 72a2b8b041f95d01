import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { hasSchema, prepareSchema } from './schema.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { withStoreErrors, isBusy, isReadOnly, unavailable } from './sqlite-errors.ts';

const MEMORY = ':memory:';
const MAX_WAL_ATTEMPTS = 100;

/**
 * Opens a session database and makes it when there is none, its folder too.
 * @throws StateFormatError for a file that is not ours, or is of another schema: it is not touched;
 * StoreUnavailableError when it cannot be opened.
 */
export function openDatabase(path: string, busyTimeoutSeconds: number): DatabaseSync {
  const location = path === MEMORY ? path : resolve(path);
  const busyTimeout = `PRAGMA busy_timeout = ${Math.ceil(busyTimeoutSeconds * 1000)}`;
  return withStoreErrors({ location, kind: 'read' }, () => {
    if (location !== MEMORY && hasContent(location)) checkFile(location, busyTimeout);
    const database = connect(location);
    try {
      database.exec(busyTimeout);
      prepareSchema(database, location);
      makeDurable(database, location);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/**
 * `node:sqlite` is looked up and not imported: some bundlers remove the prefix `node:` of imports, and there is no module
 * `sqlite`.
 */
function connect(location: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(location, options);
}

/**
 * Makes a database ready for sessions, unless it is. Its name in messages: its file, if it has one.
 * @throws StateFormatError, StoreUnavailableError
 */
export function prepareDatabase(database: SqliteDatabase): string {
  const file = withStoreErrors({ location: '(given as an open database)', kind: 'read' }, () => {
    return database.prepare('PRAGMA database_list').get({})?.['file'];
  });
  const location = String(file || MEMORY);
  withStoreErrors({ location, kind: 'read' }, () => prepareSchema(database, location));
  return location;
}

/** Is there a file with something in it? Makes the folder when it is missing. */
function hasContent(location: string): boolean {
  try {
    mkdirSync(dirname(location), { recursive: true });
    return (statSync(location, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (error) {
    const message = `The session database ${location} could not be opened: its folder cannot be made or read.`;
    throw unavailable(message, error);
  }
}

/**
 * Tells whether the path of an open database still names the file that was opened. SQLite does not look: it goes on in a
 * file that was deleted or replaced, where nobody finds what it writes.
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
 * Refuses a file that is not ours. A connection that can write would change even such a file: closing it takes
 * what a crash left in the write-ahead log into the file. (Nor may the header be read without SQLite: closing the
 * file would drop the locks that other connections of this process hold on it.)
 */
function checkFile(location: string, busyTimeout: string): void {
  const database = connect(location, { readOnly: true });
  try {
    database.exec(busyTimeout);
    hasSchema(database, location);
  } catch (error) {
    // A journal that a crash left must be rolled back before anything can be read: opening it to write does that.
    if (!isReadOnly(error)) throw error;
  } finally {
    database.close();
  }
}

/**
 * What is acknowledged stays: readers and one writer at a time through a write-ahead log (a killed process loses
 * nothing), forced to the disk at each commit (nor does a power cut).
 */
function makeDurable(database: SqliteDatabase, location: string): void {
  const mode = useWriteAheadLog(database);
  if (mode !== (location === MEMORY ? 'memory' : 'wal')) {
    throw unavailable(
      `The session database ${location} cannot have a write-ahead log; found the journal mode "${mode}".`,
    );
  }
  database.exec('PRAGMA synchronous = FULL');
}

function useWriteAheadLog(database: SqliteDatabase): string {
  for (let attempts = 1; ; attempts++) {
    try {
      return String(database.prepare('PRAGMA journal_mode = WAL').get({})?.['journal_mode']);
    } catch (error) {
      if (!isBusy(error) || attempts === MAX_WAL_ATTEMPTS) throw error;
    }
    // Another connection is opening the new file too. Unlike the PRAGMA, this waits for it, up to the busy timeout.
    database.exec('BEGIN EXCLUSIVE; ROLLBACK');
  }
}
