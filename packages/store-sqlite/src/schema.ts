import { StateFormatError } from '@holdfast/core';
import type { SqliteDatabase } from './sqlite-database.ts';

/** Marks a file as ours: "Hold" in ASCII. */
const APPLICATION_ID = 0x486f6c64;

/**
 * From schema version n to n + 1, at index n. Never edited once released, only added to.
 *
 * Version 1: a session is one row, and `document` is all of it. The other columns repeat what the conditions of
 * writes and the filters of lists ask for. `agent_name` and `operation_id` are written as between the quotes of a
 * JSON string, so that any text fits; ids are as they are, for their order. Each index answers one filter in one
 * order, so that no page of a list reads more rows than it returns. `document` is last: what stands before a
 * large value can be read without it.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE sessions (
    session_id TEXT NOT NULL PRIMARY KEY,
    incarnation TEXT NOT NULL,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    parent_id TEXT,
    execution_status TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    operation_id TEXT,
    document TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_created ON sessions (created_at DESC, session_id);
  CREATE INDEX sessions_updated ON sessions (updated_at DESC, session_id);
  CREATE INDEX sessions_status_created ON sessions (status, created_at DESC, session_id);
  CREATE INDEX sessions_status_updated ON sessions (status, updated_at DESC, session_id);
  CREATE INDEX sessions_agent_created ON sessions (agent_name, created_at DESC, session_id);
  CREATE INDEX sessions_agent_updated ON sessions (agent_name, updated_at DESC, session_id);
  CREATE INDEX sessions_parent_created ON sessions (parent_id, created_at DESC, session_id)
    WHERE parent_id IS NOT NULL;
  CREATE INDEX sessions_parent_updated ON sessions (parent_id, updated_at DESC, session_id)
    WHERE parent_id IS NOT NULL;
  CREATE INDEX sessions_execution_created ON sessions (execution_status, created_at DESC, session_id)
    WHERE execution_status IS NOT NULL;
  CREATE INDEX sessions_execution_updated ON sessions (execution_status, updated_at DESC, session_id)
    WHERE execution_status IS NOT NULL;`,
];

const SCHEMA_VERSION = MIGRATIONS.length;

/** One statement, so that it sees one moment: another process may be making the schema. */
const INSPECT = `SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema) AS has_content
  FROM pragma_application_id, pragma_user_version`;

/**
 * The schema version of a database; 0 when there is nothing in it. Writes nothing.
 * @throws StateFormatError when it is not ours; `STATE_VERSION` when a newer release wrote it.
 */
export function schemaVersion(database: SqliteDatabase, location: string): number {
  const { application_id, user_version, has_content } = database.prepare(INSPECT).get({}) ?? {};
  const applicationId = Number(application_id);
  const version = Number(user_version);
  if (applicationId === APPLICATION_ID && version > SCHEMA_VERSION) {
    const expected = `schema version ${SCHEMA_VERSION} or older; a newer release wrote this, open it with that release`;
    throw new StateFormatError(location, expected, `schema version ${version}`, { code: 'STATE_VERSION' });
  }
  if (applicationId === APPLICATION_ID && version > 0) return version;
  if (applicationId === 0 && version === 0 && Number(has_content) === 0) return 0;
  const found = `a database of another application (application_id ${applicationId}, user_version ${version})`;
  throw new StateFormatError(location, 'a session database of Holdfast; choose another file', found);
}

/** Brings a database up to the present schema, whole or not at all. @throws StateFormatError as `schemaVersion`. */
export function prepareSchema(database: SqliteDatabase, location: string): void {
  if (schemaVersion(database, location) === SCHEMA_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Asked again: another process may have done it while this one waited for its turn.
    for (const migration of MIGRATIONS.slice(schemaVersion(database, location))) database.exec(migration);
    database.exec(
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`,
    );
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself; what went wrong before is what the caller must hear of.
  }
}
