import { mustBe, optionsCheck } from '../../arguments.ts';
import type { Instant } from '../../clock.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import { EXECUTION_STATUSES } from '../../state/execution/status.ts';
import { WAITING_TYPES } from '../../state/execution/waiting.ts';
import type { ListedSession } from '../session-info.ts';
import { SESSION_STATUSES } from '../session-info.ts';
import type { DueQuery, DueSession, SessionOrder, SessionQuery } from '../session-store.ts';

/** Where a page ended: the last session's place in the order. */
export interface CursorPosition {
  readonly at: number;
  readonly sessionId: string;
}

/** A query with nothing left open. */
export interface ResolvedSessionQuery extends SessionQuery {
  readonly order: SessionOrder;
  readonly limit: number;
  /** The page begins after this place. */
  readonly after: CursorPosition | undefined;
}

/** A query of what is due, with nothing left open. */
export interface ResolvedDueQuery {
  readonly at: Instant;
  readonly limit: number;
  readonly after: CursorPosition | undefined;
}

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 50;
const PAGE_LIMIT = mustBe.wholeNumber(1, MAX_LIMIT);

const checkQuery = optionsCheck<SessionQuery>(
  'list',
  {
    status: mustBe.oneOf(SESSION_STATUSES),
    agentName: mustBe.string,
    parentId: mustBe.string,
    executionStatus: mustBe.oneOf(EXECUTION_STATUSES),
    waitingFor: mustBe.oneOf(WAITING_TYPES),
    order: mustBe.oneOf(['createdAt', 'lastActiveAt']),
    limit: PAGE_LIMIT,
    cursor: mustBe.anything, // see openCursor
  },
  {
    agent: 'write "agentName"',
    offset: 'pass the cursor of the page before',
    page: 'pass the cursor of the page before',
  },
);

const checkDueQuery = optionsCheck<DueQuery>('due', {
  at: mustBe.instant,
  limit: PAGE_LIMIT,
  cursor: mustBe.anything, // see openCursor
});

/**
 * Fills in the defaults and opens the cursor. For stores.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown filter or a value that does not fit, a limit outside 1 to
 * 100, and a cursor of another order or of another making.
 */
export function resolveSessionQuery(query: SessionQuery = {}): ResolvedSessionQuery {
  const { order = 'createdAt', limit = DEFAULT_LIMIT, cursor } = checkQuery(query);
  const after = cursor === undefined ? undefined : openCursor(cursor, order);
  return { ...query, order, limit, after };
}

/** The same for what is due. For stores. @throws RangeError or TypeError `ARGUMENT_INVALID` as there. */
export function resolveDueQuery(query: DueQuery = {}, now: Instant): ResolvedDueQuery {
  const { at = now, limit = DEFAULT_LIMIT, cursor } = checkDueQuery(query);
  return { at, limit, after: cursor === undefined ? undefined : openCursor(cursor, 'dueAt') };
}

const FILTERS = ['status', 'agentName', 'parentId', 'executionStatus', 'waitingFor'] as const;

/** Does the query ask for the session, on this page or a later one? For stores. */
export function matchesSessionQuery(info: ListedSession, query: ResolvedSessionQuery): boolean {
  return (
    isAfterCursor(info, query) &&
    FILTERS.every((name) => query[name] === undefined || query[name] === info[name])
  );
}

/** Longest due first; among equals by id, by code point. For stores. */
export function compareDueSessions(left: DueSession, right: DueSession): number {
  return left.dueAt - right.dueAt || compareSessionIds(left.sessionId, right.sessionId);
}

/** Is the session due by then, and after the place where the page before ended? For stores. */
export function matchesDueQuery(session: DueSession, { at, after }: ResolvedDueQuery): boolean {
  const isBehind =
    after === undefined || compareDueSessions({ sessionId: after.sessionId, dueAt: after.at }, session) < 0;
  return isBehind && session.dueAt <= at;
}

/** The cursor of a page of what is due that ended with this session. For stores. */
export function dueCursor({ dueAt, sessionId }: DueSession): string {
  return JSON.stringify(['dueAt', dueAt, sessionId]);
}

/** Newest first; among equals by id, by code point. For stores. */
export function compareListedSessions(
  order: SessionOrder,
): (left: ListedSession, right: ListedSession) => number {
  return (left, right) => right[order] - left[order] || compareSessionIds(left.sessionId, right.sessionId);
}

/** Does the session come after the place where a page ended? For stores. */
export function isAfterCursor(info: ListedSession, { order, after }: ResolvedSessionQuery): boolean {
  if (after === undefined || info[order] < after.at) return true;
  return info[order] === after.at && compareSessionIds(info.sessionId, after.sessionId) > 0;
}

/** By code point, which is the order of UTF-8 bytes, in which databases compare. */
function compareSessionIds(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [unit, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (unit !== other) return codePointRank(unit) - codePointRank(other);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points beyond all others, though their units do not come last. */
function codePointRank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
}

/** The cursor of a page that ended with this session. For stores. */
export function sessionCursor(info: ListedSession, order: SessionOrder): string {
  return JSON.stringify([order, info[order], info.sessionId]);
}

function openCursor(cursor: string, order: string): CursorPosition {
  const [cursorOrder, at, sessionId] = parsedList(cursor);
  if (!Number.isSafeInteger(at) || typeof sessionId !== 'string') {
    throw invalidArgument(`The cursor is not one that the store returned, found ${describeValue(cursor)}.`);
  }
  if (cursorOrder !== order) {
    throw invalidArgument(
      `The cursor belongs to the order "${String(cursorOrder)}", the query asks for "${order}".`,
    );
  }
  return { at: at as number, sessionId };
}

function parsedList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
