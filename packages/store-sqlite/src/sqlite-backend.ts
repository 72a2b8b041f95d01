import { setImmediate } from 'node:timers/promises';
import type { Instant, ListedSession } from '@holdfast/core';
import {
  missingParts,
  parseSeenWorker,
  type DueSession,
  type ItemRange,
  type ReadRequest,
  type ReadSession,
  type RecordChange,
  type ResolvedDueQuery,
  type ResolvedSessionQuery,
  type SeenWorker,
  type SessionBackend,
  type SessionRecord,
  type StoreCapabilities,
  type StoredItem,
  type UnreadableEntry,
  type CompareAndSetResult,
} from '@holdfast/core/store';
import { GroupCommit } from './group-commit.ts';
import {
  largestValue,
  readArchive,
  readInbox,
  readParts,
  readPosition,
  writeContent,
} from './session-content.ts';
import { dueEntry, dueSql, listedEntry, listSql } from './session-list.ts';
import {
  escapeText,
  indexedColumns,
  RECORD_COLUMNS,
  recordColumns,
  rowName,
  rowRecord,
  rowRecordName,
} from './session-row.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { SqliteParameters, SqliteRow } from './sqlite-database.ts';
import { MAX_VALUE_BYTES } from './sqlite-errors.ts';

/** Stores sessions in an SQLite database. The writes of one iteration of the event loop share a transaction. */
export class SqliteBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities = {
    listing: 'strong',
    clock: 'client',
    maxValueBytes: MAX_VALUE_BYTES,
  };
  private readonly connection: SqliteConnection;
  private readonly commits: GroupCommit;

  constructor(connection: SqliteConnection) {
    this.connection = connection;
    this.commits = new GroupCommit(connection);
  }

  async readRecord(sessionId: string): Promise<SessionRecord | undefined> {
    const { connection } = this;
    const row = await this.query(() => connection.get(SELECT_RECORD, { session_id: sessionId }));
    return row && rowRecord(row, connection.location);
  }

  async readSession(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined> {
    const { connection } = this;
    const id = { session_id: sessionId };
    return this.query(() => {
      if (request.isRecordFirst) {
        const row = connection.get(SELECT_RECORD, id);
        const record = row && rowRecord(row, connection.location);
        if (record === undefined || request.extent(record) === 'record') return record && { record };
      }
      return connection.inReadTransaction(() => {
        const row = connection.get(SELECT_SESSION, id);
        return row && this.requested(row, request);
      });
    });
  }

  /** Returns as much of a session as a request demands. `row` is its row in `sessions`. */
  private requested(row: SqliteRow, { extent, known }: ReadRequest): ReadSession {
    const { connection } = this;
    const record = rowRecord(row, connection.location);
    const needed = extent(record);
    if (needed === 'record') return { record };
    const head = String(row['head']);
    if (needed === 'head') return { record, content: { head, values: new Map(), lists: [] } };
    const missing = missingParts(record, head, known);
    const parts = readParts(
      connection,
      row['session_key'] ?? null,
      missing,
      rowName(row, connection.location),
    );
    return { record, content: { head, ...parts } };
  }

  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    const { connection } = this;
    return this.query(() => readInbox(connection, sessionId, incarnation, range));
  }

  async readPosition(sessionId: string, incarnation: string, itemId: string): Promise<number | undefined> {
    return this.query(() => readPosition(this.connection, sessionId, incarnation, itemId));
  }

  async readArchive(
    sessionId: string,
    incarnation: string,
    archive: string,
    range: ItemRange,
  ): Promise<readonly StoredItem[]> {
    return this.query(() => readArchive(this.connection, { sessionId, incarnation }, archive, range));
  }

  async announce(worker: SeenWorker, until: Instant): Promise<void> {
    const { nextBatch } = this.commits;
    if (nextBatch) await nextBatch;
    const worker_name = escapeText(worker.workerName);
    const isGone = until <= worker.seenAt;
    this.connection.write(() => {
      if (isGone) this.connection.run(DROP_WORKER, { worker_name });
      else this.connection.run(PUT_WORKER, { worker_name, until, content: JSON.stringify(worker) });
      this.connection.run(DROP_OLD_WORKERS, { now: worker.seenAt });
    });
  }

  async workers(now: Instant): Promise<readonly SeenWorker[]> {
    const rows = await this.query(() => this.connection.all(SELECT_WORKERS, { now }));
    return rows.flatMap(({ content }) => parseSeenWorker(String(content)) ?? []);
  }

  async compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<CompareAndSetResult> {
    return this.commits.write({
      measured: { sessionId, largest: () => largestValue(change) },
      act: () => this.replace(sessionId, before, after, change),
    });
  }

  async discard(sessionId: string): Promise<boolean> {
    const { nextBatch } = this.commits;
    if (nextBatch) await nextBatch;
    return this.connection.write(() => this.connection.run(DISCARD, { session_id: sessionId })) > 0;
  }

  async isOwnedBy(sessionId: string, owner: string): Promise<boolean> {
    const parameters = { session_id: sessionId, owner: escapeText(owner) };
    return (await this.query(() => this.connection.get(SELECT_OWNED, parameters))) !== undefined;
  }

  async list(
    query: ResolvedSessionQuery,
    now: Instant,
  ): Promise<readonly (ListedSession | UnreadableEntry)[]> {
    const { connection } = this;
    const { sql, parameters } = listSql(query, now);
    const rows = await this.query(() => connection.all(sql, parameters));
    return rows.map((row) => listedEntry(row, query, connection.location));
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly (DueSession | UnreadableEntry)[]> {
    const { connection } = this;
    const { sql, parameters } = dueSql(query, now);
    const rows = await this.query(() => connection.all(sql, parameters));
    return rows.map((row) => dueEntry(row, connection.location));
  }

  /**
   * Deletes expired sessions in small transactions, because the time of a delete grows with the size of the session.
   * Between two transactions, the event loop and other connections continue.
   */
  async prune(now: Instant, limit: number): Promise<number> {
    const { connection } = this;
    for (let pruned = 0; ; await setImmediate()) {
      const most = Math.min(PRUNED_AT_ONCE, limit - pruned);
      const found = connection.write(() => connection.run(PRUNE, { now, most }));
      pruned += found;
      if (found < most || pruned === limit) return pruned;
    }
  }

  async close(): Promise<void> {
    this.commits.flush();
    this.connection.close();
  }

  private async query<T>(act: () => T): Promise<T> {
    const { nextBatch } = this.commits;
    if (nextBatch) await nextBatch;
    return this.connection.read(act);
  }

  private replace(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): CompareAndSetResult {
    if (after === undefined) return before && this.remove(sessionId, before) ? 'done' : 'outdated';
    const head = change.plan?.head;
    const row =
      before?.incarnation === after.incarnation
        ? this.update(sessionId, before, after, head)
        : this.insert(sessionId, before, after, head);
    return row ? writeContent(this.connection, row['session_key'] ?? null, change) : 'outdated';
  }

  /** Sets the changed columns only: each column in the statement costs a page write for each index on it. */
  private update(
    sessionId: string,
    before: SessionRecord,
    after: SessionRecord,
    head: string | undefined,
  ): SqliteRow | undefined {
    const old = indexedColumns(before);
    const changed = Object.entries(indexedColumns(after)).filter(([column, value]) => old[column] !== value);
    const columns = {
      ...recordColumns(after),
      ...(head !== undefined && { head }),
      ...Object.fromEntries(changed),
    };
    const sets = Object.keys(columns).map((column) => `${column} = :${column}`);
    const sql = `UPDATE sessions SET ${sets.join(', ')} ${WHERE_UNCHANGED} RETURNING session_key`;
    return this.connection.get(sql, { ...columns, ...conditionParameters(sessionId, before) });
  }

  private insert(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord,
    head: string | undefined,
  ): SqliteRow | undefined {
    if (head === undefined || (before && !this.remove(sessionId, before))) return undefined;
    const columns = { session_id: sessionId, ...recordColumns(after), ...indexedColumns(after), head };
    return this.connection.get(INSERT, columns);
  }

  private remove(sessionId: string, before: SessionRecord): boolean {
    return this.connection.run(DELETE, conditionParameters(sessionId, before)) > 0;
  }
}

const SELECT_RECORD = `SELECT ${RECORD_COLUMNS} FROM sessions WHERE session_id = :session_id`;
const SELECT_OWNED = 'SELECT 1 FROM sessions WHERE session_id = :session_id AND owner = :owner';
const SELECT_SESSION = `SELECT ${RECORD_COLUMNS}, session_key, head FROM sessions WHERE session_id = :session_id`;

const COLUMNS = `session_id, record_name, incarnation, status, agent_name, parent_id, owner, execution_status, waiting_for,
  created_at, last_active_at, due_at, expires_at, record, head`;
const INSERT = `INSERT INTO sessions (${COLUMNS}) VALUES (${COLUMNS.replaceAll(/\w+/gu, ':$&')})
  ON CONFLICT (session_id) DO NOTHING RETURNING session_key`;

const WHERE_UNCHANGED = 'WHERE session_id = :session_id AND record_name = :old_name';
const DELETE = `DELETE FROM sessions ${WHERE_UNCHANGED}`;
const DISCARD = 'DELETE FROM sessions WHERE session_id = :session_id';
const PRUNE = `DELETE FROM sessions WHERE session_key IN
  (SELECT session_key FROM sessions WHERE expires_at <= :now ORDER BY expires_at LIMIT :most)`;
const PRUNED_AT_ONCE = 20;

const PUT_WORKER = `INSERT INTO workers (worker_name, until, content) VALUES (:worker_name, :until, :content)
  ON CONFLICT (worker_name) DO UPDATE SET until = excluded.until, content = excluded.content`;
const DROP_WORKER = 'DELETE FROM workers WHERE worker_name = :worker_name';
const DROP_OLD_WORKERS = 'DELETE FROM workers WHERE until <= :now';
const SELECT_WORKERS = 'SELECT content FROM workers WHERE until > :now';

function conditionParameters(sessionId: string, before: SessionRecord): SqliteParameters {
  return { session_id: sessionId, old_name: rowRecordName(before) };
}
