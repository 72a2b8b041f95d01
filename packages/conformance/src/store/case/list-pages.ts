import assert from 'node:assert/strict';
import type { SessionQuery, SessionStore } from '@holdfast/core';
import type { AgentSessionInit } from '@holdfast/core/store';
import type { CaseContext } from './store-case.ts';

type IdInit = readonly [id: string, init?: Partial<AgentSessionInit>];

/** Creates sessions one second apart. */
export async function createEach(
  { clock, created }: CaseContext,
  sessions: readonly IdInit[],
): Promise<void> {
  for (const [id, init] of sessions) {
    await created(id, init);
    clock.time += 1_000;
  }
}

/** The session ids of the first page. */
export async function idsOf(store: SessionStore, query?: SessionQuery): Promise<string[]> {
  return (await store.list(query)).sessions.map((info) => info.sessionId);
}

const MAX_PAGES = 100;

/** The session ids of all pages, in one array for each page. `between` runs after each page. */
export async function pagesOf(
  store: SessionStore,
  query: SessionQuery,
  between: (page: readonly string[]) => Promise<unknown> = async () => undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ ...query, cursor });
    pages.push(page.sessions.map((info) => info.sessionId));
    await between(pages.at(-1) ?? []);
    cursor = page.cursor;
    assert(pages.length <= MAX_PAGES, 'The pages never end.');
  } while (cursor !== undefined);
  return pages;
}
