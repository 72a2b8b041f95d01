import { dueAt } from '@holdfast/core';
import type {
  Instant,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionInfo,
  SessionRecord,
} from '@holdfast/core';
import { toName } from './session-hash.ts';

/** By what a list can be filtered, the most selective first, and what stands for it in the name of an index. */
const FILTERS = {
  parentId: 'p',
  waitingFor: 'w',
  agentName: 'a',
  executionStatus: 'e',
  status: 's',
} as const satisfies Partial<Record<keyof SessionInfo, string>>;

const ORDERS = { createdAt: 'c', updatedAt: 'u' };

/** Sessions that need somebody, by when. */
const DUE = 'd';
/** Sessions that will be forgotten, by when. */
export const EXPIRY = 'x';

/**
 * The score of a session in each index that it stands in. Lists show the newest first, so there it is the moment's
 * opposite. Redis orders equal scores by id. A page can begin after any place, also one where nothing is any more.
 */
export function indexScores(record: SessionRecord): ReadonlyMap<string, number> {
  const { info, expiresAt } = record;
  const [created, updated] = [newestFirst(info.createdAt), newestFirst(info.updatedAt)];
  const scores = new Map([
    [ORDERS.createdAt, created],
    [ORDERS.updatedAt, updated],
  ]);
  for (const name of FILTER_NAMES) {
    const value = info[name];
    if (value === undefined) continue;
    const filter = filterName(name, value);
    scores.set(ORDERS.createdAt + filter, created).set(ORDERS.updatedAt + filter, updated);
  }
  const due = dueAt(record);
  if (due !== undefined) scores.set(DUE, due);
  if (expiresAt !== undefined) scores.set(EXPIRY, expiresAt);
  return scores;
}

/** A place in an index. */
export interface IndexPlace {
  readonly score: number;
  readonly id: string | Buffer;
}

/** A part of an index. */
export interface IndexRange {
  readonly index: string;
  /** It begins behind this place. */
  readonly after: IndexPlace | undefined;
  /** The last score. */
  readonly max: number | '+inf';
}

/** Where the sessions of a list stand; further filters are up to the reader. */
export function listRange(query: ResolvedSessionQuery): IndexRange {
  const { order, after } = query;
  const name = FILTER_NAMES.find((filter) => query[filter] !== undefined);
  const index = ORDERS[order] + (name === undefined ? '' : filterName(name, query[name] ?? ''));
  return { index, after: after && { score: newestFirst(after.at), id: after.sessionId }, max: '+inf' };
}

export function dueRange({ at, after }: ResolvedDueQuery): IndexRange {
  return { index: DUE, after: after && { score: after.at, id: after.sessionId }, max: at };
}

/** What has expired by a moment. */
export function expiryRange(now: Instant): IndexRange {
  return { index: EXPIRY, after: undefined, max: now };
}

function newestFirst(at: Instant): number {
  return 0 - at; // no negative zero
}

const FILTER_NAMES = Object.keys(FILTERS) as readonly (keyof typeof FILTERS)[];

function filterName(name: keyof typeof FILTERS, value: string): string {
  return `:${FILTERS[name]}:${toName(value)}`;
}
