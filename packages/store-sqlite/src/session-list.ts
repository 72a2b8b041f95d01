import type { ResolvedSessionQuery } from '@holdfast/core';
import { escapeText, LISTED_COLUMNS } from './session-rows.ts';
import type { SqliteParameters } from './sqlite-database.ts';

/** A statement and what its parameters stand for. */
export interface BoundSql {
  readonly sql: string;
  readonly parameters: SqliteParameters;
}

const ORDER_COLUMNS = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

/**
 * The rows of one page, and one more if there is another page. Each part of the statement is one walk along an
 * index: what is left of the moment at which the page before ended, then the moments before it.
 */
export function listSql(query: ResolvedSessionQuery): BoundSql {
  const { order, after, limit } = query;
  const filters = filterParameters(query);
  const at = ORDER_COLUMNS[order];
  const conditions = Object.keys(filters).map((column) => `${column} = :${column}`);
  const selects = after
    ? [[`${at} = :at`, 'session_id > :after_id'], [`${at} < :at`]].map((place) =>
        select([...conditions, ...place]),
      )
    : [select(conditions)];
  return {
    sql: `${selects.join(' UNION ALL ')} ORDER BY ${at} DESC, session_id LIMIT :count`,
    parameters: { ...filters, ...(after && { at: after.at, after_id: after.sessionId }), count: limit + 1 },
  };
}

function select(conditions: readonly string[]): string {
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `SELECT ${LISTED_COLUMNS} FROM sessions${where}`;
}

/** The value that each filtered column must have. */
function filterParameters(query: ResolvedSessionQuery): SqliteParameters {
  const { status, agentName, parentId, executionStatus } = query;
  return {
    ...(status !== undefined && { status }),
    ...(agentName !== undefined && { agent_name: escapeText(agentName) }),
    ...(parentId !== undefined && { parent_id: parentId }),
    ...(executionStatus !== undefined && { execution_status: executionStatus }),
  };
}
