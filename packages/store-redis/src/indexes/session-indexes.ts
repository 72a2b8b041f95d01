import {
  recordDueAt,
  waitingForOf,
  type ResolvedDueQuery,
  type ResolvedSessionQuery,
  type SessionRecord,
} from '@holdfast/core/store';
import type { Instant, SessionInfo } from '@holdfast/core';
import { escapeName } from '../layout/redis-keys.ts';

/** The filters of a list, the most selective first, each with its letter in the names of indexes. */
const FILTERS = {
  parentId: 'p',
  owner: 'o',
  waitingFor: 'w',
  agentName: 'a',
  executionStatus: 'e',
  status: 's',
} as const satisfies Partial<Record<keyof SessionInfo, string>>;

const ORDERS = { createdAt: 'c', lastActiveAt: 'l' };

/** The index of due sessions, by the instant at which they are due. */
const DUE = 'd';
/** The index of sessions that expire, by the instant of their expiry. */
export const EXPIRY = 'x';

/** A change of a session's entry in an index. */
export interface IndexChange {
  readonly index: string;
  /** `undefined` removes the entry. */
  readonly score: number | undefined;
}

/**
 * How the index entries of a session change when one record replaces another; without a record before, all its entries.
 *
 * Lists show the newest first, so their scores are negative instants. Redis orders equal scores by id. A page can begin
 * after any position, even if no entry is at it any more.
 */
export function indexChanges(
  before: SessionRecord | undefined,
  after: SessionRecord | undefined,
): readonly IndexChange[] {
  const changes: IndexChange[] = [];
  const add = (index: string, old: number | undefined, score: number | undefined): void => {
    if (old !== score) changes.push({ index, score });
  };
  add(DUE, before && recordDueAt(before), after && recordDueAt(after));
  add(EXPIRY, before?.expiresAt, after?.expiresAt);
  addListChanges(ORDERS.createdAt, before, after, ({ info }) => info.createdAt, changes);
  addListChanges(ORDERS.lastActiveAt, before, after, ({ lastActiveAt }) => lastActiveAt, changes);
  return changes;
}

/** The score of a session in an index; `undefined` where it has no entry. */
export function scoreIn(record: SessionRecord, index: string): number | undefined {
  return indexChanges(undefined, record).find((change) => change.index === index)?.score;
}

/** Adds the changes in the indexes of one order. */
function addListChanges(
  order: string,
  before: SessionRecord | undefined,
  after: SessionRecord | undefined,
  instantOf: (record: SessionRecord) => Instant,
  changes: IndexChange[],
): void {
  const [old, score] = [before && newestFirst(instantOf(before)), after && newestFirst(instantOf(after))];
  if (old !== score) changes.push({ index: order, score });
  for (const name of FILTER_NAMES) {
    const [oldValue, value] = [before && valueIn(before, name), after && valueIn(after, name)];
    if (oldValue === value && old === score) continue; // as in most writes, which then build no names
    if (oldValue !== undefined && oldValue !== value) {
      changes.push({ index: order + filterName(name, oldValue), score: undefined });
    }
    if (value !== undefined) changes.push({ index: order + filterName(name, value), score });
  }
}

/** The instant of a score in an index. */
export function instantIn(score: number, index: string): Instant {
  return index === DUE || index === EXPIRY ? score : newestFirst(score);
}

/** The indexes that hold the sessions of a list: that of its order, and one for each filter. All have the same scores. */
export function listIndexes(
  query: Pick<ResolvedSessionQuery, 'order' | keyof typeof FILTERS>,
): readonly string[] {
  const filtered = FILTER_NAMES.flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [ORDERS[query.order] + filterName(name, value)];
  });
  return [ORDERS[query.order], ...filtered];
}

/** The value of a filter in a list. */
function valueIn(record: SessionRecord, name: keyof typeof FILTERS): string | undefined {
  return name === 'waitingFor' ? waitingForOf(record) : record.info[name];
}

/** A position in an index. */
export interface IndexPosition {
  readonly score: number;
  readonly id: string | Buffer;
}

/** A part of an index. */
export interface IndexRange {
  readonly index: string;
  /** The position before the range. */
  readonly after: IndexPosition | undefined;
  /** The highest score. */
  readonly max: number | '+inf';
}

/** The range of a list. It regards one filter of the query; the reader applies the others. */
export function listRange(query: ResolvedSessionQuery): IndexRange {
  const { order, after } = query;
  const name = FILTER_NAMES.find((filter) => query[filter] !== undefined);
  const index = ORDERS[order] + (name === undefined ? '' : filterName(name, query[name] ?? ''));
  return { index, after: after && { score: newestFirst(after.at), id: after.sessionId }, max: '+inf' };
}

export function dueRange({ at, after }: ResolvedDueQuery): IndexRange {
  return { index: DUE, after: after && { score: after.at, id: after.sessionId }, max: at };
}

/** The sessions that have expired by an instant. */
export function expiryRange(now: Instant): IndexRange {
  return { index: EXPIRY, after: undefined, max: now };
}

/** The score of an instant where the newest comes first. */
function newestFirst(at: Instant): number {
  return 0 - at; // no negative zero
}

const FILTER_NAMES = Object.keys(FILTERS) as readonly (keyof typeof FILTERS)[];

function filterName(name: keyof typeof FILTERS, value: string): string {
  return `:${FILTERS[name]}:${escapeName(value)}`;
}
