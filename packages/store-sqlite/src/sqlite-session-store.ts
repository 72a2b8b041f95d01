import {
  invalidArgument,
  resolveSessionQuery,
  SessionConflictError,
  sessionCursor,
  SessionId,
  SessionNotFoundError,
  systemClock,
} from '@holdfast/core';
import type {
  AgentSession,
  Clock,
  DeleteOptions,
  SaveOptions,
  SessionPage,
  SessionQuery,
  SessionRevision,
  SessionStore,
} from '@holdfast/core';
import { openDatabase } from './open-database.ts';
import { prepareSchema } from './schema.ts';
import { listSql } from './session-list.ts';
import { escapeText, rowInfo, rowRevision, rowSession, toRow } from './session-rows.ts';
import type { SqliteDatabase, SqliteParameters, SqliteRow, SqliteStatement } from './sqlite-database.ts';
import { attempt, unavailable } from './sqlite-errors.ts';
import type { SqliteAttempt } from './sqlite-errors.ts';

const DEFAULT_BUSY_TIMEOUT_SECONDS = 5;

/** Where to keep sessions, and how. */
export interface SqliteSessionStoreOptions {
  /** The file; it and its folder are made when they are missing. `:memory:` keeps sessions as long as the store. */
  readonly path: string;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** How long to wait, with the event loop blocked, for another writer of the same file; default 5. */
  readonly busyTimeoutSeconds?: number | undefined;
}

interface SqliteSessionStoreFields {
  readonly database: SqliteDatabase;
  readonly location: string;
  readonly clock: Clock | undefined;
  readonly close: () => void;
}

/**
 * Keeps sessions in one SQLite file, through `node:sqlite`. Any number of processes of one machine may share it.
 *
 * @example
 * const store = await SqliteSessionStore.open({ path: 'data/sessions.db' });
 */
export class SqliteSessionStore implements SessionStore {
  private readonly database: SqliteDatabase;
  private readonly location: string;
  private readonly clock: Clock;
  private readonly statements = new Map<string, SqliteStatement>();
  private closeDatabase: (() => void) | undefined;

  private constructor({ database, location, clock = systemClock, close }: SqliteSessionStoreFields) {
    this.database = database;
    this.location = location;
    this.clock = clock;
    this.closeDatabase = close;
  }

  /**
   * A store with a database of its own, which `close()` closes.
   * @throws StateFormatError for a file that is not a session database, or is of a newer release: it is left as it
   * is; StoreUnavailableError when it cannot be opened; RangeError `ARGUMENT_INVALID` for an option that cannot be.
   */
  static async open(options: SqliteSessionStoreOptions): Promise<SqliteSessionStore> {
    const { path, clock, busyTimeoutSeconds = DEFAULT_BUSY_TIMEOUT_SECONDS } = options;
    const { database, location } = openDatabase(path, busyTimeoutSeconds);
    return new SqliteSessionStore({ database, location, clock, close: () => database.close() });
  }

  /**
   * A store in an open `DatabaseSync` that holds sessions or nothing. `close()` leaves it open. Its journal mode,
   * `synchronous` and `busy_timeout` stay as they are: durability and waiting are what its owner chose.
   * @throws StateFormatError when there is something else in it; it is left as it is.
   */
  static async from(
    database: SqliteDatabase,
    options: { readonly clock?: Clock | undefined } = {},
  ): Promise<SqliteSessionStore> {
    const location = '(given as an open database)';
    attempt({ location, isWrite: false }, () => prepareSchema(database, location));
    return new SqliteSessionStore({ database, location, clock: options.clock, close: () => undefined });
  }

  async create(session: AgentSession): Promise<AgentSession> {
    if (session.version !== 0)
      throw invalidArgument(`A new session has version 0, found ${session.version}.`);
    const created = session.withRevision({ incarnation: this.clock.newId(), version: 1 }, this.clock.now());
    for (;;) {
      if (this.write(INSERT, created, undefined)) return created;
      const row = this.readRow(session.sessionId);
      if (row) throw conflict(session, row);
      // Whoever had the id deleted it between the two statements: it is free.
    }
  }

  async load(sessionId: string): Promise<AgentSession | undefined> {
    const row = this.readRow(sessionId);
    return row && rowSession(row, sessionId, this.location);
  }

  async save(session: AgentSession, { operationId }: SaveOptions = {}): Promise<AgentSession> {
    const { sessionId, revision } = session;
    const saved = session.withRevision({ ...revision, version: revision.version + 1 }, this.clock.now());
    if (this.write(UPDATE, saved, operationId)) return saved;
    const row = this.readRow(sessionId);
    if (row === undefined) throw new SessionNotFoundError(sessionId);
    if (isOwnEarlierSave(row, revision, operationId)) return rowSession(row, sessionId, this.location);
    throw conflict(session, row);
  }

  async exists(sessionId: string): Promise<boolean> {
    return this.readRow(sessionId, EXISTS) !== undefined;
  }

  async delete(sessionId: string, { revision }: DeleteOptions = {}): Promise<boolean> {
    if (!SessionId.is(sessionId)) return false;
    const id = { session_id: sessionId };
    const parameters = revision
      ? { ...id, incarnation: revision.incarnation, version: revision.version }
      : id;
    if (this.change(revision ? DELETE_REVISION : DELETE, parameters)) return true;
    const row = revision && this.readRow(sessionId);
    if (revision && row) throw new SessionConflictError(sessionId, revision, rowRevision(row));
    return false;
  }

  async list(query?: SessionQuery): Promise<SessionPage> {
    const resolved = resolveSessionQuery(query);
    const { order, limit, parentId } = resolved;
    if (parentId !== undefined && !SessionId.is(parentId)) return { sessions: [], cursor: undefined };
    const { sql, parameters } = listSql(resolved);
    const rows = this.attempt({}, () => this.statement(sql).all(parameters));
    const sessions = rows.slice(0, limit).map((row) => rowInfo(row, this.location));
    const last = sessions.at(-1);
    return { sessions, cursor: last && rows.length > limit ? sessionCursor(last, order) : undefined };
  }

  /** Lets go of the database, and closes one that the store opened. All that is asked for afterwards is refused. */
  async close(): Promise<void> {
    const close = this.closeDatabase;
    this.closeDatabase = undefined;
    this.statements.clear();
    if (close) attempt({ location: this.location, isWrite: false }, close);
  }

  /** Was the row written? The statement says under which condition. */
  private write(sql: string, session: AgentSession, operationId: string | undefined): boolean {
    const row = toRow(session, operationId);
    return this.change(sql, row, { sessionId: session.sessionId, document: row.document });
  }

  private change(sql: string, parameters: SqliteParameters, written?: SqliteAttempt['written']): boolean {
    const { changes } = this.attempt({ isWrite: true, written }, () => this.statement(sql).run(parameters));
    return Number(changes) > 0;
  }

  /** The row of a session. A text that cannot be an id has none; SQLite might take it for another. */
  private readRow(sessionId: string, sql = SELECT): SqliteRow | undefined {
    if (!SessionId.is(sessionId)) return undefined;
    return this.attempt({}, () => this.statement(sql).get({ session_id: sessionId }));
  }

  private attempt<T>(what: Partial<SqliteAttempt>, act: () => T): T {
    if (!this.closeDatabase)
      throw unavailable(`The session store ${this.location} is closed: open it again.`);
    return attempt({ isWrite: false, ...what, location: this.location }, act);
  }

  private statement(sql: string): SqliteStatement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

const SELECT =
  'SELECT incarnation, version, operation_id, document FROM sessions WHERE session_id = :session_id';
const EXISTS = 'SELECT 1 FROM sessions WHERE session_id = :session_id';

const INSERT = `INSERT INTO sessions (session_id, incarnation, version, status, agent_name, parent_id, execution_status,
    created_at, updated_at, operation_id, document)
  VALUES (:session_id, :incarnation, :version, :status, :agent_name, :parent_id, :execution_status,
    :created_at, :updated_at, :operation_id, :document)
  ON CONFLICT (session_id) DO NOTHING`;

const UPDATE = `UPDATE sessions SET version = :version, status = :status, agent_name = :agent_name,
    parent_id = :parent_id, execution_status = :execution_status, created_at = :created_at,
    updated_at = :updated_at, operation_id = :operation_id, document = :document
  WHERE session_id = :session_id AND incarnation = :incarnation AND version = :version - 1`;

const DELETE = 'DELETE FROM sessions WHERE session_id = :session_id';
const DELETE_REVISION = `${DELETE} AND incarnation = :incarnation AND version = :version`;

function conflict(session: AgentSession, row: SqliteRow): SessionConflictError {
  return new SessionConflictError(session.sessionId, session.revision, rowRevision(row));
}

function isOwnEarlierSave(row: SqliteRow, base: SessionRevision, operationId: string | undefined): boolean {
  const { incarnation, version } = rowRevision(row);
  const isNext = incarnation === base.incarnation && version === base.version + 1;
  return isNext && operationId !== undefined && row['operation_id'] === escapeText(operationId);
}
