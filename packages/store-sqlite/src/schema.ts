import { StateFormatError } from '@holdfast/core';
import type { SqliteDatabase } from './sqlite-database.ts';

/** The tables of a database, and how the database names them in its header. */
export interface DatabaseLayout {
  /** Names the content in messages, as in `session`. */
  readonly content: string;
  readonly applicationId: number;
  readonly version: number;
  readonly sql: string;
}

const SCHEMA_VERSION = 5;

/**
 * A session is one row of `sessions`, which each write updates in part, and rows of content, which writes append and
 * truncate at the end. `record` and `head` are the JSON texts of the session. The columns before them repeat values that
 * the conditions of writes and lists use. Names and other free texts are stored as between the quotes of a JSON string.
 * Session ids are stored unescaped, so that their order is right. Each index serves one filter in one order, so that a
 * page with at most one filter reads no more rows than it returns.
 *
 * The tables of content have row ids. A table without row ids stores values of more than a quarter of a page on overflow
 * pages, and inserts appended rows in its middle: with messages of 1 KB it took twice as many pages. The inbox has no row
 * ids, because its items are few, short-lived and read in the order of their positions.
 */
const SCHEMA = `
  CREATE TABLE sessions (
    session_key INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    record_name TEXT NOT NULL,
    incarnation TEXT NOT NULL,
    status TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    parent_id TEXT,
    owner TEXT,
    execution_status TEXT,
    waiting_for TEXT,
    created_at INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL,
    due_at INTEGER,
    expires_at INTEGER,
    record TEXT NOT NULL,
    head TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_created ON sessions (created_at DESC, session_id);
  CREATE INDEX sessions_active ON sessions (last_active_at DESC, session_id);
  CREATE INDEX sessions_status_created ON sessions (status, created_at DESC, session_id);
  CREATE INDEX sessions_status_active ON sessions (status, last_active_at DESC, session_id);
  CREATE INDEX sessions_agent_created ON sessions (agent_name, created_at DESC, session_id);
  CREATE INDEX sessions_agent_active ON sessions (agent_name, last_active_at DESC, session_id);
  CREATE INDEX sessions_parent_created ON sessions (parent_id, created_at DESC, session_id)
    WHERE parent_id IS NOT NULL;
  CREATE INDEX sessions_parent_active ON sessions (parent_id, last_active_at DESC, session_id)
    WHERE parent_id IS NOT NULL;
  CREATE INDEX sessions_owner_created ON sessions (owner, created_at DESC, session_id)
    WHERE owner IS NOT NULL;
  CREATE INDEX sessions_owner_active ON sessions (owner, last_active_at DESC, session_id)
    WHERE owner IS NOT NULL;
  CREATE INDEX sessions_execution_created ON sessions (execution_status, created_at DESC, session_id)
    WHERE execution_status IS NOT NULL;
  CREATE INDEX sessions_execution_active ON sessions (execution_status, last_active_at DESC, session_id)
    WHERE execution_status IS NOT NULL;
  CREATE INDEX sessions_waiting_created ON sessions (waiting_for, created_at DESC, session_id)
    WHERE waiting_for IS NOT NULL;
  CREATE INDEX sessions_waiting_active ON sessions (waiting_for, last_active_at DESC, session_id)
    WHERE waiting_for IS NOT NULL;
  CREATE INDEX sessions_due ON sessions (due_at, session_id) WHERE due_at IS NOT NULL;
  CREATE INDEX sessions_expiring ON sessions (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE session_values (
    session_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (session_key, name)
  ) STRICT;
  CREATE TABLE session_lists (
    session_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (session_key, name, position)
  ) STRICT;
  CREATE TABLE session_inbox (
    session_key INTEGER NOT NULL,
    position INTEGER NOT NULL,
    item_id TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (session_key, position),
    UNIQUE (session_key, item_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE session_archives (
    session_key INTEGER NOT NULL,
    archive TEXT NOT NULL,
    position INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (session_key, archive, position)
  ) STRICT;
  CREATE TABLE workers (
    worker_name TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL,
    content TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions BEGIN
    DELETE FROM session_values WHERE session_key = old.session_key;
    DELETE FROM session_lists WHERE session_key = old.session_key;
    DELETE FROM session_inbox WHERE session_key = old.session_key;
    DELETE FROM session_archives WHERE session_key = old.session_key;
  END;`;

/** The layout of a session database. Its `application_id` is "Hold" in ASCII. */
export const SESSION_LAYOUT: DatabaseLayout = {
  content: 'session',
  applicationId: 0x486f6c64,
  version: SCHEMA_VERSION,
  sql: SCHEMA,
};

/** One statement reads all three values at one moment, because another process may be creating the schema. */
const INSPECT = `SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema) AS has_content
  FROM pragma_application_id, pragma_user_version`;

/**
 * True when the database has the layout, false when it is empty. Writes nothing.
 * @throws StateFormatError `STATE_FORMAT` for a database of another application or of an older version of the layout,
 * `STATE_VERSION` for a newer version.
 */
export function hasSchema(database: SqliteDatabase, location: string, layout: DatabaseLayout): boolean {
  const { application_id, user_version, has_content } = database.prepare(INSPECT).get({}) ?? {};
  const applicationId = Number(application_id);
  const version = Number(user_version);
  if (applicationId === 0 && version === 0 && Number(has_content) === 0) return false;
  if (applicationId !== layout.applicationId || version <= 0) {
    const found = `a database of another application (application_id ${applicationId}, user_version ${version})`;
    throw new StateFormatError(location, `a Holdfast ${layout.content} database; choose another file`, found);
  }
  if (version === layout.version) return true;
  const [code, advice] =
    version > layout.version
      ? (['STATE_VERSION', 'a newer release wrote the database, so open it with that release'] as const)
      : (['STATE_FORMAT', olderLayout(layout)] as const);
  const expected = `schema version ${layout.version}; ${advice}`;
  throw new StateFormatError(location, expected, `schema version ${version}`, { code });
}

function olderLayout({ version }: DatabaseLayout): string {
  return `this release reads layout ${version} only, so open it with the release that wrote it, or choose another file`;
}

/** Creates the layout in an empty database, in one transaction. @throws StateFormatError as `hasSchema` does. */
export function prepareSchema(database: SqliteDatabase, location: string, layout: DatabaseLayout): void {
  if (hasSchema(database, location, layout)) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Checks again, because another process may have created the schema while this process waited for the lock.
    if (!hasSchema(database, location, layout)) database.exec(layout.sql);
    database.exec(
      `PRAGMA application_id = ${layout.applicationId}; PRAGMA user_version = ${layout.version}; COMMIT`,
    );
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Rolls the transaction back. Does not throw. */
export function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself. The caller throws the error before this one.
  }
}
