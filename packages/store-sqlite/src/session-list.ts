import { StateFormatError, type Instant, type ListedSession } from '@holdfast/core';
import {
  listedSession,
  matchesSessionQuery,
  recordDueAt,
  type DueSession,
  type ResolvedDueQuery,
  type ResolvedSessionQuery,
  type SessionRecord,
  type UnreadableEntry,
} from '@holdfast/core/store';
import { escapeText, RECORD_COLUMNS, rowName, rowRecord, rowSessionId } from './session-row.ts';
import type { SqliteParameters, SqliteRow } from './sqlite-database.ts';

/** A statement and the values of its parameters. */
export interface BoundSql {
  readonly sql: string;
  readonly parameters: SqliteParameters;
}

const ORDER_COLUMNS = { createdAt: 'created_at', lastActiveAt: 'last_active_at' } as const;

const NOT_EXPIRED = '(expires_at <= :now) IS NOT TRUE';

/**
 * Selects the rows of one page, and one more row if another page follows. Each SELECT walks along one index: the first
 * reads the remaining sessions of the instant at which the last page ended, the second reads the earlier instants.
 */
export function listSql(query: ResolvedSessionQuery, now: Instant): BoundSql {
  const { order, after, limit } = query;
  const filters = filterParameters(query);
  const at = ORDER_COLUMNS[order];
  const conditions = [...Object.keys(filters).map((column) => `${column} = :${column}`), NOT_EXPIRED];
  const places = after ? [[`${at} = :at`, 'session_id > :after_id'], [`${at} < :at`]] : [[]];
  const selects = places.map((place) => select(at, [...conditions, ...place]));
  return {
    sql: `${selects.join(' UNION ALL ')} ORDER BY ${at} DESC, session_id LIMIT :count`,
    parameters: {
      ...filters,
      ...(after && { at: after.at, after_id: after.sessionId }),
      now,
      count: limit + 1,
    },
  };
}

/** Selects a page of due sessions: the remaining ones of the instant at which the last page ended, then the later ones. */
export function dueSql({ at, after, limit }: ResolvedDueQuery, now: Instant): BoundSql {
  const conditions = ['due_at <= :at', NOT_EXPIRED];
  const places = after ? [['due_at = :after_at', 'session_id > :after_id'], ['due_at > :after_at']] : [[]];
  const selects = places.map((place) => select('due_at', [...conditions, ...place]));
  return {
    sql: `${selects.join(' UNION ALL ')} ORDER BY due_at, session_id LIMIT :count`,
    parameters: {
      ...(after && { after_at: after.at, after_id: after.sessionId }),
      at,
      now,
      count: limit + 1,
    },
  };
}

/** The session in a row of `listSql`. */
export function listedEntry(
  row: SqliteRow,
  query: ResolvedSessionQuery,
  location: string,
): ListedSession | UnreadableEntry {
  const { order } = query;
  const at = Number(row[ORDER_COLUMNS[order]]);
  return entryOf(row, at, location, (record) => {
    const listed = listedSession(record);
    return listed[order] === at && matchesSessionQuery(listed, query) ? listed : undefined;
  });
}

/** The session in a row of `dueSql`. */
export function dueEntry(row: SqliteRow, location: string): DueSession | UnreadableEntry {
  const dueAt = Number(row['due_at']);
  return entryOf(row, dueAt, location, (record) =>
    recordDueAt(record) === dueAt ? { sessionId: record.info.sessionId, dueAt } : undefined,
  );
}

/** Returns the entry of a row. A record that is unreadable, or that other columns do not repeat, must not end the list. */
function entryOf<T>(
  row: SqliteRow,
  at: Instant,
  location: string,
  pick: (record: SessionRecord) => T | undefined,
): T | UnreadableEntry {
  try {
    const picked = pick(rowRecord(row, location));
    if (picked !== undefined) return picked;
    throw new StateFormatError(rowName(row, location), 'columns that repeat the record', 'other values');
  } catch (error) {
    if (error instanceof StateFormatError) return { sessionId: rowSessionId(row), at, error };
    throw error;
  }
}

function select(at: string, conditions: readonly string[]): string {
  return `SELECT session_id, ${at}, ${RECORD_COLUMNS} FROM sessions WHERE ${conditions.join(' AND ')}`;
}

/** The value of each filtered column. */
function filterParameters(query: ResolvedSessionQuery): SqliteParameters {
  const { owner, status, agentName, parentId, executionStatus, waitingFor } = query;
  return {
    ...(owner !== undefined && { owner: escapeText(owner) }),
    ...(status !== undefined && { status }),
    ...(agentName !== undefined && { agent_name: escapeText(agentName) }),
    ...(parentId !== undefined && { parent_id: parentId }),
    ...(executionStatus !== undefined && { execution_status: executionStatus }),
    ...(waitingFor !== undefined && { waiting_for: waitingFor }),
  };
}
