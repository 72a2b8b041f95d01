import { dueAt, hasErrorCode, readSessionRecord, StateFormatError } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core';
import type { SqliteParameters, SqliteRow, SqliteValue } from './sqlite-database.ts';

/** A record as the values of columns. */
export function toColumns(record: SessionRecord): SqliteParameters {
  const { info, incarnation, writes, expiresAt } = record;
  return {
    incarnation: escapeText(incarnation),
    writes,
    status: info.status,
    agent_name: escapeText(info.agentName),
    parent_id: info.parentId ?? null,
    execution_status: info.executionStatus ?? null,
    waiting_for: info.waitingFor ?? null,
    created_at: info.createdAt,
    updated_at: info.updatedAt,
    due_at: dueAt(record) ?? null,
    expires_at: expiresAt ?? null,
    record: JSON.stringify(record),
  };
}

/** What makes a record. The id is asked for as bytes, because Node 22 cuts a text at its first NUL. */
export const RECORD_COLUMNS = 'CAST(session_id AS BLOB) AS id_bytes, incarnation, writes, record';

/**
 * The record in a row of `RECORD_COLUMNS`.
 * @throws StateFormatError naming the session when it cannot be read, or is not of this row: it could not be replaced.
 */
export function rowRecord(row: SqliteRow, location: string): SessionRecord {
  const sessionId = rowSessionId(row);
  const where = rowName(row, location);
  const record = parseRecord(row['record'], where);
  const named = (id: string, incarnation: SqliteValue | undefined, writes: SqliteValue | undefined): string =>
    `write ${String(writes)} of ${JSON.stringify(id)}, incarnation ${String(incarnation)}`;
  const expected = named(sessionId, row['incarnation'], row['writes']);
  const found = named(record.info.sessionId, escapeText(record.incarnation), record.writes);
  if (found !== expected) throw new StateFormatError(where, expected, found);
  return record;
}

/** The session of a row of `RECORD_COLUMNS`, in messages. */
export function rowName(row: SqliteRow, location: string): string {
  return `session ${JSON.stringify(rowSessionId(row))} in ${location}`;
}

export function rowSessionId({ id_bytes: bytes }: SqliteRow): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('utf8') : '';
}

function parseRecord(text: SqliteValue | undefined, where: string): SessionRecord {
  try {
    return readSessionRecord(JSON.parse(String(text)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = hasErrorCode(error, 'STATE_VERSION') ? 'STATE_VERSION' : 'STATE_FORMAT';
    const expected = 'a record that this release can read';
    throw new StateFormatError(where, expected, error.message, { code, cause: error });
  }
}

/** Any text as between the quotes of a JSON string: without NUL and lone surrogates, which SQLite cannot hold. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Back again. @throws StateFormatError when it is not such a text. */
export function unescapeText(value: SqliteValue | undefined, where: string): string {
  try {
    return String(JSON.parse(`"${String(value)}"`));
  } catch (cause) {
    throw new StateFormatError(where, 'a text as in a JSON string', JSON.stringify(String(value)), { cause });
  }
}
