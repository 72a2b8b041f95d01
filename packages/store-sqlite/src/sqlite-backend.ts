import { setImmediate } from 'node:timers/promises';
import type {
  DueSession,
  Instant,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionBackend,
  SessionInfo,
  SessionRecord,
  StoreCapabilities,
  StoredSession,
} from '@holdfast/core';
import { largestValue, readContent, readInbox, writeContent } from './session-content.ts';
import { dueSql, listSql } from './session-list.ts';
import { escapeText, RECORD_COLUMNS, rowName, rowRecord, rowSessionId, toColumns } from './session-row.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteParameters, SqliteRow } from './sqlite-database.ts';
import { MAX_VALUE_BYTES } from './sqlite-errors.ts';

/** Sessions in a database of SQLite: each write is one transaction. */
export class SqliteBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = {
    listing: 'strong',
    clock: 'client',
    maxValueBytes: MAX_VALUE_BYTES,
  };
  private readonly connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.connection = connection;
  }

  async read(sessionId: string): Promise<SessionRecord | undefined> {
    const { connection } = this;
    const row = connection.read(() => connection.get(SELECT_RECORD, { session_id: sessionId }));
    return row && rowRecord(row, connection.location);
  }

  async readAll(sessionId: string): Promise<StoredSession | undefined> {
    const { connection } = this;
    return connection.readTogether(() => {
      const row = connection.get(SELECT_SESSION, { session_id: sessionId });
      if (row === undefined) return undefined;
      const record = rowRecord(row, connection.location);
      const { session_key: key = null, head } = row;
      const content = readContent(connection, key, rowName(row, connection.location));
      const inbox = readInbox(connection, key, record.inbox?.ids ?? []);
      return { record, saved: { head: String(head), ...content }, inbox };
    });
  }

  async readItems(
    sessionId: string,
    incarnation: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const { connection } = this;
    const session = { session_id: sessionId, incarnation: escapeText(incarnation) };
    return connection.readTogether(() => {
      const row = connection.get(SELECT_KEY, session);
      return row ? readInbox(connection, row['session_key'] ?? null, ids) : new Map<string, string>();
    });
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<boolean> {
    const { connection } = this;
    return connection.write({ sessionId, largest: () => largestValue(change) }, () => {
      if (after === undefined) return before !== undefined && this.remove(sessionId, before);
      const row =
        before?.incarnation === after.incarnation
          ? this.update(sessionId, before, after, change.plan?.head)
          : this.insert(sessionId, before, after, change.plan?.head);
      if (row === undefined) return false;
      writeContent(connection, row['session_key'] ?? null, change);
      return true;
    });
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly SessionInfo[]> {
    const { connection } = this;
    const { sql, parameters } = listSql(query, now);
    const rows = connection.read(() => connection.all(sql, parameters));
    return rows.map((row) => rowRecord(row, connection.location).info);
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    const { connection } = this;
    const { sql, parameters } = dueSql(query, now);
    const rows = connection.read(() => connection.all(sql, parameters));
    return rows.map((row) => ({ sessionId: rowSessionId(row), dueAt: Number(row['due_at']) }));
  }

  /** A few at a time: to delete a session costs what it holds, and others are to have their turn. */
  async prune(now: Instant, limit: number): Promise<number> {
    const { connection } = this;
    for (let pruned = 0; ; await setImmediate()) {
      const most = Math.min(PRUNED_AT_ONCE, limit - pruned);
      const found = connection.write(undefined, () => connection.run(PRUNE, { now, most }));
      pruned += found;
      if (found < most || pruned === limit) return pruned;
    }
  }

  async close(): Promise<void> {
    this.connection.close();
  }

  /** Only what changed: each column that is named costs a page for every index that it is in. */
  private update(
    sessionId: string,
    before: SessionRecord,
    after: SessionRecord,
    head: string | undefined,
  ): SqliteRow | undefined {
    const old = toColumns(before);
    const changed = Object.entries({ ...toColumns(after), ...(head !== undefined && { head }) }).filter(
      ([column, value]) => old[column] !== value,
    );
    const sets = changed.map(([column]) => `${column} = :${column}`).join(', ');
    const sql = `UPDATE sessions SET ${sets} ${WHERE_STILL_THERE} RETURNING session_key`;
    return this.connection.get(sql, { ...Object.fromEntries(changed), ...stillThere(sessionId, before) });
  }

  private insert(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord,
    head: string | undefined,
  ): SqliteRow | undefined {
    if (head === undefined || (before && !this.remove(sessionId, before))) return undefined;
    return this.connection.get(INSERT, { session_id: sessionId, ...toColumns(after), head });
  }

  private remove(sessionId: string, before: SessionRecord): boolean {
    return this.connection.run(DELETE, stillThere(sessionId, before)) > 0;
  }
}

const SELECT_RECORD = `SELECT ${RECORD_COLUMNS} FROM sessions WHERE session_id = :session_id`;
const SELECT_SESSION = `SELECT ${RECORD_COLUMNS}, session_key, head FROM sessions WHERE session_id = :session_id`;
const SELECT_KEY =
  'SELECT session_key FROM sessions WHERE session_id = :session_id AND incarnation = :incarnation';

const COLUMNS = `session_id, incarnation, writes, status, agent_name, parent_id, execution_status, waiting_for,
  created_at, updated_at, due_at, expires_at, record, head`;
const INSERT = `INSERT INTO sessions (${COLUMNS}) VALUES (${COLUMNS.replaceAll(/\w+/gu, ':$&')})
  ON CONFLICT (session_id) DO NOTHING RETURNING session_key`;

const WHERE_STILL_THERE =
  'WHERE session_id = :session_id AND incarnation = :old_incarnation AND writes = :old_writes';
const DELETE = `DELETE FROM sessions ${WHERE_STILL_THERE}`;
const PRUNE = `DELETE FROM sessions WHERE session_key IN
  (SELECT session_key FROM sessions WHERE expires_at <= :now ORDER BY expires_at LIMIT :most)`;
const PRUNED_AT_ONCE = 20;

function stillThere(sessionId: string, { incarnation, writes }: SessionRecord): SqliteParameters {
  return { session_id: sessionId, old_incarnation: escapeText(incarnation), old_writes: writes };
}
