import { StateFormatError } from '@holdfast/core';
import type { SqliteDatabase } from './sqlite-database.ts';

/** Marks a file as ours: "Hold" in ASCII. */
const APPLICATION_ID = 0x486f6c64;

const SCHEMA_VERSION = 4;

/**
 * A session is one row of `sessions`, which each write replaces in part, and rows of content, which are only added
 * to and cut off at the end. `record` and `head` say all there is to say; the columns before them repeat what the
 * conditions of writes and of lists ask for. Texts that may be anything, such as names, stand as between the quotes
 * of a JSON string; session ids are as they are, for their order. Each index answers one question in one order, so
 * that no page reads more rows than it returns.
 *
 * Content has row numbers: in a table that is clustered by its key, what is longer than a quarter of a page goes to
 * pages of its own, and what is added goes to the middle. Measured with messages of 1 KB that is twice the pages. The
 * inbox is clustered: its items are few, are read in the order of their positions, and go soon.
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
  CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions BEGIN
    DELETE FROM session_values WHERE session_key = old.session_key;
    DELETE FROM session_lists WHERE session_key = old.session_key;
    DELETE FROM session_inbox WHERE session_key = old.session_key;
  END;`;

/** One statement, so that it sees one moment: another process may be making the schema. */
const INSPECT = `SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema) AS has_content
  FROM pragma_application_id, pragma_user_version`;

/**
 * Is the schema there? `false` when there is nothing at all. Writes nothing.
 * @throws StateFormatError when the database is not ours, or of a layout that this release does not know;
 * `STATE_VERSION` when a newer release wrote it.
 */
export function hasSchema(database: SqliteDatabase, location: string): boolean {
  const { application_id, user_version, has_content } = database.prepare(INSPECT).get({}) ?? {};
  const applicationId = Number(application_id);
  const version = Number(user_version);
  if (applicationId === 0 && version === 0 && Number(has_content) === 0) return false;
  if (applicationId !== APPLICATION_ID || version <= 0) {
    const found = `a database of another application (application_id ${applicationId}, user_version ${version})`;
    throw new StateFormatError(location, 'a session database of Holdfast; choose another file', found);
  }
  if (version === SCHEMA_VERSION) return true;
  const [code, advice] =
    version > SCHEMA_VERSION
      ? (['STATE_VERSION', 'a newer release wrote this, open it with that release'] as const)
      : (['STATE_FORMAT', 'no release reads the older layout, choose another file'] as const);
  const expected = `schema version ${SCHEMA_VERSION}; ${advice}`;
  throw new StateFormatError(location, expected, `schema version ${version}`, { code });
}

/** Makes the schema where there is nothing, whole or not at all. @throws StateFormatError as `hasSchema`. */
export function prepareSchema(database: SqliteDatabase, location: string): void {
  if (hasSchema(database, location)) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Asked again: another process may have done it while this one waited for its turn.
    if (!hasSchema(database, location)) database.exec(SCHEMA);
    database.exec(
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`,
    );
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Ends a transaction without having done anything. */
export function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself; what went wrong before is what the caller must hear of.
  }
}
