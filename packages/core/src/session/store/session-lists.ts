import { SessionId } from '../../state/values/ids.ts';
import type { DuePage, DueQuery } from '../session-directory.ts';
import type { SessionPage, SessionQuery } from '../session-store.ts';
import type { OpenBackend } from './backend/open-backend.ts';
import {
  cursorOf,
  isUnreadableEntry,
  resolveDueQuery,
  resolveSessionQuery,
  type UnreadableEntry,
} from './backend/session-query.ts';

const NO_SESSIONS: SessionPage = Object.freeze({ sessions: [], unreadable: [], cursor: undefined });

/** Returns a page of the sessions that match a query. @throws RangeError or TypeError `ARGUMENT_INVALID` */
export async function sessionPage(
  opened: OpenBackend,
  query: SessionQuery | undefined,
): Promise<SessionPage> {
  const { backend } = opened;
  const resolved = resolveSessionQuery(query);
  const { order, limit, parentId } = resolved;
  if (parentId !== undefined && !SessionId.is(parentId)) return NO_SESSIONS;
  const found = await backend.list(resolved, await opened.now());
  return pageOf(found, limit, (last) => cursorOf(last, order));
}

/** Returns a page of the due sessions. @throws RangeError or TypeError `ARGUMENT_INVALID` */
export async function duePage(opened: OpenBackend, query: DueQuery | undefined): Promise<DuePage> {
  const now = await opened.now();
  const resolved = resolveDueQuery(query, now);
  return pageOf(await opened.backend.due(resolved, now), resolved.limit, (last) => cursorOf(last, 'dueAt'));
}

/** Returns a page of the entries that a backend found, of which it returned one more than the limit if others follow. */
function pageOf<T extends object>(
  found: readonly (T | UnreadableEntry)[],
  limit: number,
  cursorAt: (last: T | UnreadableEntry) => string,
): Pick<SessionPage, 'unreadable' | 'cursor'> & { readonly sessions: readonly T[] } {
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return {
    sessions: entries.filter((entry): entry is T => !isUnreadableEntry(entry)),
    unreadable: entries.filter(isUnreadableEntry).map(({ sessionId, error }) => ({ sessionId, error })),
    cursor: last && found.length > limit ? cursorAt(last) : undefined,
  };
}
