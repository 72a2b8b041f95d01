import { AgentSession, hasErrorCode, SessionId, StateFormatError } from '@holdfast/core';
import type { ExecutionStatus, SessionInfo, SessionRevision, SessionStatus } from '@holdfast/core';
import type { SqliteParameters, SqliteRow, SqliteValue } from './sqlite-database.ts';

/**
 * The columns that make a `SessionInfo`. Ids are asked for as bytes, because Node 22 cuts a text at its first NUL;
 * `session_id` itself is there for the order of the list.
 */
export const LISTED_COLUMNS = `session_id, CAST(session_id AS BLOB) AS id_bytes, CAST(parent_id AS BLOB) AS parent_bytes,
  agent_name, status, version, created_at, updated_at, execution_status`;

/** A session as the values of all columns. */
export function toRow(
  session: AgentSession,
  operationId: string | undefined,
): SqliteParameters & { document: string } {
  const { sessionId, revision, status, agentName, parentId, createdAt, updatedAt, state } = session;
  return {
    session_id: sessionId,
    incarnation: revision.incarnation,
    version: revision.version,
    status,
    agent_name: escapeText(agentName),
    parent_id: parentId ?? null,
    execution_status: state.status ?? null,
    created_at: createdAt,
    updated_at: updatedAt,
    operation_id: operationId === undefined ? null : escapeText(operationId),
    document: JSON.stringify(session),
  };
}

/** Any text as between the quotes of a JSON string: without NUL and lone surrogates, which SQLite cannot hold. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Which state of a session a row holds. */
export function rowRevision(row: SqliteRow): SessionRevision {
  return { incarnation: String(row['incarnation']), version: Number(row['version']) };
}

/**
 * The session that a row holds.
 * @throws StateFormatError naming the session when its document does not fit, or is not of this row.
 */
export function rowSession(row: SqliteRow, sessionId: string, location: string): AgentSession {
  const where = `session ${JSON.stringify(sessionId)} in ${location}`;
  const session = readDocument(row['document'], where);
  const expected = rowRevision(row);
  const { incarnation, version } = session.revision;
  if (
    session.sessionId !== sessionId ||
    incarnation !== expected.incarnation ||
    version !== expected.version
  ) {
    const found = `version ${version} of ${JSON.stringify(session.sessionId)}, incarnation ${incarnation}`;
    throw new StateFormatError(
      where,
      `version ${expected.version}, incarnation ${expected.incarnation}`,
      found,
    );
  }
  return session;
}

function readDocument(document: SqliteValue | undefined, where: string): AgentSession {
  try {
    return AgentSession.fromJSON(JSON.parse(String(document)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = hasErrorCode(error, 'STATE_VERSION') ? 'STATE_VERSION' : 'STATE_FORMAT';
    throw new StateFormatError(where, 'a session that this release can read', error.message, {
      code,
      cause: error,
    });
  }
}

const STATUSES: Readonly<Record<SessionStatus, true>> = {
  active: true,
  suspended: true,
  completed: true,
  failed: true,
  deleted: true,
};

const EXECUTION_STATUSES: Readonly<Record<ExecutionStatus, true>> = {
  pending: true,
  inProgress: true,
  suspended: true,
  completed: true,
  stopped: true,
  failed: true,
};

/** What a list shows of the session in a row of `LISTED_COLUMNS`. @throws StateFormatError for a value that cannot be. */
export function rowInfo(row: SqliteRow, location: string): SessionInfo {
  const sessionId = readId(row['id_bytes'], 'session_id', location);
  const where = `session ${JSON.stringify(sessionId)} in ${location}`;
  const { parent_bytes: parent = null, execution_status: executionStatus = null } = row;
  return Object.freeze({
    sessionId,
    parentId: parent === null ? undefined : readId(parent, 'parent_id', where),
    agentName: readEscaped(row['agent_name'], where),
    status: readStatus(row['status'], STATUSES, `the status of ${where}`),
    version: Number(row['version']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    executionStatus:
      executionStatus === null
        ? undefined
        : readStatus(executionStatus, EXECUTION_STATUSES, `the execution_status of ${where}`),
  });
}

function readId(value: SqliteValue | undefined, column: string, where: string): SessionId {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : undefined;
  if (SessionId.is(text)) return text;
  throw new StateFormatError(`the ${column} of ${where}`, 'the id of a session', JSON.stringify(text));
}

function readEscaped(value: SqliteValue | undefined, where: string): string {
  try {
    return String(JSON.parse(`"${String(value)}"`));
  } catch (error) {
    const expected = 'a text as in a JSON string';
    throw new StateFormatError(`the agent_name of ${where}`, expected, String(value), { cause: error });
  }
}

function readStatus<T extends string>(
  value: SqliteValue | undefined,
  known: Readonly<Record<T, true>>,
  where: string,
): T {
  const isKnown = (text: string): text is T => Object.hasOwn(known, text);
  const text = String(value);
  if (isKnown(text)) return text;
  throw new StateFormatError(where, `one of ${Object.keys(known).join(', ')}`, text);
}
