import type { ListedSession, SessionQuery, SessionStore } from '@holdfast/core';

/** The sessions that a query selects, from all pages. */
export async function listedSessions(
  store: Pick<SessionStore, 'list'>,
  query: SessionQuery,
): Promise<readonly ListedSession[]> {
  const found: ListedSession[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit: 100, ...query, cursor });
    found.push(...page.sessions);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return found;
}
