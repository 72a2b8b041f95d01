import { hasErrorCode, StateFormatError } from '@holdfast/core';
import { recordDueAt, readSessionRecord, recordName } from '@holdfast/core/store';
import type { SessionRecord } from '@holdfast/core/store';
import type { SqliteParameters, SqliteRow, SqliteValue } from './sqlite-database.ts';

/** The columns that conditions, filters and indexes use. */
export function indexedColumns(record: SessionRecord): SqliteParameters {
  const { info, incarnation, lastActiveAt, expiresAt } = record;
  return {
    incarnation: escapeText(incarnation),
    status: info.status,
    agent_name: escapeText(info.agentName),
    parent_id: info.parentId ?? null,
    execution_status: info.executionStatus ?? null,
    waiting_for: info.waitingFor ?? null,
    created_at: info.createdAt,
    last_active_at: lastActiveAt,
    due_at: recordDueAt(record) ?? null,
    expires_at: expiresAt ?? null,
  };
}

/** The columns that every write changes. */
export function recordColumns(record: SessionRecord): SqliteParameters {
  return { record_name: rowRecordName(record), record: JSON.stringify(record) };
}

/** The name of a record as a column holds it. */
export function rowRecordName(record: SessionRecord): string {
  return escapeText(recordName(record));
}

/** The columns of a record. The id is read as bytes, because Node 22 cuts a text at its first NUL. */
export const RECORD_COLUMNS = 'CAST(session_id AS BLOB) AS id_bytes, record_name, record';

/**
 * The record in a row of `RECORD_COLUMNS`.
 * @throws StateFormatError naming the session when the record cannot be read, or belongs to another row.
 */
export function rowRecord(row: SqliteRow, location: string): SessionRecord {
  const where = rowName(row, location);
  const record = parseRecord(row['record'], where);
  const named = (sessionId: string, name: SqliteValue | undefined): string =>
    `record ${String(name)} of ${JSON.stringify(sessionId)}`;
  const expected = named(rowSessionId(row), row['record_name']);
  const found = named(record.info.sessionId, rowRecordName(record));
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
