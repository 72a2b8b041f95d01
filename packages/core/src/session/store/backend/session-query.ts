import { mustBe, optionsCheck, type ArgumentCheck } from '../../../arguments.ts';
import type { Instant } from '../../../clock.ts';
import { describeValue, invalidArgument, type StateFormatError } from '../../../errors.ts';
import { EXECUTION_STATUSES } from '../../../state/execution/status.ts';
import { WAITING_TYPES } from '../../../state/values/waiting.ts';
import { SESSION_STATUSES, type ListedSession } from '../../session-info.ts';
import type { DueQuery, DueSession } from '../../session-directory.ts';
import type { SessionOrder, SessionQuery } from '../../session-store.ts';

/** The end of a page: the position of its last session in the order. */
export interface CursorPosition {
  readonly at: number;
  readonly sessionId: string;
}

/** A query with its defaults filled in and its cursor read. */
export interface ResolvedSessionQuery extends SessionQuery {
  readonly order: SessionOrder;
  readonly limit: number;
  /** The page begins after this position. */
  readonly after: CursorPosition | undefined;
}

/** A query for due sessions with its defaults filled in and its cursor read. */
export interface ResolvedDueQuery {
  readonly at: Instant;
  readonly limit: number;
  readonly after: CursorPosition | undefined;
}

/** A session of a list or of the due sessions whose record the backend cannot read. */
export interface UnreadableEntry {
  readonly sessionId: string;
  /** The instant by which the index orders the session. */
  readonly at: Instant;
  /** Names the session. Its code is `STATE_VERSION` when a newer release wrote the record. */
  readonly error: StateFormatError;
}

const MAX_LIMIT = 100;
/** The number of rows in a page, unless the query sets one. */
export const DEFAULT_LIMIT = 50;
export const PAGE_LIMIT: ArgumentCheck = mustBe.wholeNumber(1, MAX_LIMIT);

const checkQuery = optionsCheck<SessionQuery>(
  'list',
  {
    owner: mustBe.string,
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
    agent: 'use "agentName"',
    user: 'use "owner"',
    tenant: 'use "owner"',
    offset: 'pass the cursor of the previous page',
    page: 'pass the cursor of the previous page',
  },
);

const checkDueQuery = optionsCheck<DueQuery>('due', {
  at: mustBe.instant,
  dueForSeconds: mustBe.number(0, Number.MAX_VALUE),
  limit: PAGE_LIMIT,
  cursor: mustBe.anything, // see openCursor
});

/**
 * Fills in the defaults of a query and reads its cursor. For stores.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown filter, an invalid value, a limit outside 1 to 100,
 * and a cursor that is invalid or belongs to another order.
 */
export function resolveSessionQuery(query: SessionQuery = {}): ResolvedSessionQuery {
  const { order = 'createdAt', limit = DEFAULT_LIMIT, cursor } = checkQuery(query);
  return { ...query, order, limit, after: openCursor(cursor, order) };
}

/**
 * Does the same for a query for due sessions. For stores.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` as `resolveSessionQuery` does.
 */
export function resolveDueQuery(query: DueQuery = {}, now: Instant): ResolvedDueQuery {
  const { at = now, dueForSeconds = 0, limit = DEFAULT_LIMIT, cursor } = checkDueQuery(query);
  return {
    at: Math.floor(at - dueForSeconds * 1_000),
    limit,
    after: openCursor(cursor, 'dueAt'),
  };
}

const FILTERS = ['owner', 'status', 'agentName', 'parentId', 'executionStatus', 'waitingFor'] as const;

/** True when the session matches the query, on this page or a later one. For stores. */
export function matchesSessionQuery(info: ListedSession, query: ResolvedSessionQuery): boolean {
  return (
    isAfterCursor(info, query) &&
    FILTERS.every((name) => query[name] === undefined || query[name] === info[name])
  );
}

/** True for a session of a list whose record the backend could not read. */
export function isUnreadableEntry(entry: object): entry is UnreadableEntry {
  return 'error' in entry;
}

/** An entry of sessions that are ordered by an instant. */
type Entry<Order extends string> =
  | UnreadableEntry
  | ({ readonly sessionId: string } & Readonly<Record<Order, Instant>>);

function instantOf<Order extends string>(entry: Entry<Order>, order: Order): Instant {
  return isUnreadableEntry(entry) ? entry.at : entry[order];
}

/** Returns the cursor of a page that ended with this entry. */
export function cursorOf<Order extends string>(entry: Entry<Order>, order: Order): string {
  return JSON.stringify([order, instantOf(entry, order), entry.sessionId]);
}

/** Compares due sessions: longest due first, then by id, by code point. For stores. */
export function compareDueSessions(
  left: DueSession | UnreadableEntry,
  right: DueSession | UnreadableEntry,
): number {
  const difference = instantOf(left, 'dueAt') - instantOf(right, 'dueAt');
  return difference || compareSessionIds(left.sessionId, right.sessionId);
}

/** True when the session is due at `at` and comes after the end of the previous page. For stores. */
export function matchesDueQuery(
  session: DueSession | UnreadableEntry,
  { at, after }: ResolvedDueQuery,
): boolean {
  const isBehind =
    after === undefined || compareDueSessions({ sessionId: after.sessionId, dueAt: after.at }, session) < 0;
  return isBehind && instantOf(session, 'dueAt') <= at;
}

/** Returns a comparison of listed sessions: newest first, then by id, by code point. For stores. */
export function compareListedSessions(
  order: SessionOrder,
): (left: ListedSession | UnreadableEntry, right: ListedSession | UnreadableEntry) => number {
  return (left, right) =>
    instantOf(right, order) - instantOf(left, order) || compareSessionIds(left.sessionId, right.sessionId);
}

/** True when the session comes after the end of the previous page. For stores. */
export function isAfterCursor(
  entry: ListedSession | UnreadableEntry,
  { order, after }: Pick<ResolvedSessionQuery, 'order' | 'after'>,
): boolean {
  const at = instantOf(entry, order);
  if (after === undefined || at < after.at) return true;
  return at === after.at && compareSessionIds(entry.sessionId, after.sessionId) > 0;
}

/** Compares by code point. This is the order of UTF-8 bytes, by which databases compare. */
function compareSessionIds(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [unit, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (unit !== other) return codePointRank(unit) - codePointRank(other);
  }
  return left.length - right.length;
}

/**
 * Returns the rank of a UTF-16 unit by code point. Surrogates encode the highest code points, although other units have
 * higher numbers.
 */
function codePointRank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
}

function openCursor(cursor: string | undefined, order: string): CursorPosition | undefined {
  if (cursor === undefined) return undefined;
  const [cursorOrder, at, sessionId] = parsedList(cursor);
  if (!Number.isSafeInteger(at) || typeof sessionId !== 'string') {
    throw invalidCursor(cursor);
  }
  if (cursorOrder !== order) {
    throw invalidArgument(
      `The cursor belongs to the order "${String(cursorOrder)}", but the order of the query is "${order}".`,
    );
  }
  return { at: at as number, sessionId };
}

export function invalidCursor(cursor: string): RangeError | TypeError {
  return invalidArgument(`The cursor must be one that the store returned, found ${describeValue(cursor)}.`);
}

function parsedList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
