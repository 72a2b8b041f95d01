import { StateFormatError } from '@holdfast/core';
import {
  parseSessionRecord,
  recordDueAt,
  recordName,
  waitingForOf,
  type SessionRecord,
} from '@holdfast/core/store';
import type { SqliteParameters, SqliteRow } from './sqlite-database.ts';

/** The columns that conditions, filters and indexes use. */
export function indexedColumns(record: SessionRecord): SqliteParameters {
  const { info, incarnation, lastActiveAt, expiresAt } = record;
  return {
    incarnation: escapeText(incarnation),
    status: info.status,
    agent_name: escapeText(info.agentName),
    parent_id: info.parentId ?? null,
    owner: info.owner === undefined ? null : escapeText(info.owner),
    execution_status: info.executionStatus ?? null,
    waiting_for: waitingForOf(record) ?? null,
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

/** The name of a record, escaped for its column. */
export function rowRecordName(record: SessionRecord): string {
  return escapeText(recordName(record));
}

/** The columns of a record. The id is read as bytes, because Node 22 truncates a text at its first NUL. */
export const RECORD_COLUMNS = 'CAST(session_id AS BLOB) AS id_bytes, record_name, record';

/**
 * Reads the record in a row of `RECORD_COLUMNS`.
 * @throws StateFormatError that names the session, for a damaged record or the record of another row. Its code is
 * `STATE_VERSION` for a record of a newer release.
 */
export function rowRecord(row: SqliteRow, location: string): SessionRecord {
  const where = rowName(row, location);
  const record = parseSessionRecord(String(row['record']), rowSessionId(row), where);
  const [expected, found] = [String(row['record_name']), rowRecordName(record)];
  if (found !== expected) throw new StateFormatError(where, `record ${expected}`, `record ${found}`);
  return record;
}

/** The name of a row's session in messages. The row has `RECORD_COLUMNS`. */
export function rowName(row: SqliteRow, location: string): string {
  return `session ${JSON.stringify(rowSessionId(row))} in ${location}`;
}

export function rowSessionId({ id_bytes: bytes }: SqliteRow): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('utf8') : '';
}

/** Escapes a text as between the quotes of a JSON string, because SQLite cannot store NUL and lone surrogates. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
