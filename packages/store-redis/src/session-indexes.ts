import { dueAt } from '@holdfast/core';
import type {
  Instant,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionInfo,
  SessionRecord,
} from '@holdfast/core';

/** By what a list can be filtered, the most selective first, and what stands for it in the name of an index. */
const FILTERS = {
  parentId: 'p',
  waitingFor: 'w',
  agentName: 'a',
  executionStatus: 'e',
  status: 's',
} as const satisfies Partial<Record<keyof SessionInfo, string>>;

const ORDERS = { createdAt: 'c', updatedAt: 'u' } as const;

/** Sessions that need somebody, by when. */
const DUE = 'd';
/** Sessions that will be forgotten, by when. */
export const EXPIRY = 'x';

/**
 * Where a session stands in which index. All entries of an index have the score 0, so that Redis orders them by their
 * bytes: the moment, as digits of a fixed number, and then the id. A page can begin after any entry, also after one
 * that is gone.
 */
export function indexEntries(record: SessionRecord): ReadonlyMap<string, string> {
  const { info, expiresAt } = record;
  const { sessionId } = info;
  const entries = new Map<string, string>();
  for (const order of ['createdAt', 'updatedAt'] as const) {
    const entry = newestFirst(info[order], sessionId);
    entries.set(ORDERS[order], entry);
    for (const name of FILTER_NAMES) {
      const value = info[name];
      if (value !== undefined) entries.set(filterIndex(order, name, value), entry);
    }
  }
  const due = dueAt(record);
  if (due !== undefined) entries.set(DUE, oldestFirst(due, sessionId));
  if (expiresAt !== undefined) entries.set(EXPIRY, oldestFirst(expiresAt, sessionId));
  return entries;
}

/** A part of an index, in the words of ZRANGEBYLEX. */
export interface IndexRange {
  readonly index: string;
  readonly min: string;
  readonly max: string;
}

/** Where the sessions of a list stand; further filters are up to the reader. */
export function listRange(query: ResolvedSessionQuery): IndexRange {
  const { order, after } = query;
  const name = FILTER_NAMES.find((filter) => query[filter] !== undefined);
  const index = name === undefined ? ORDERS[order] : filterIndex(order, name, query[name] ?? '');
  return { index, min: after ? `(${newestFirst(after.at, after.sessionId)}` : '-', max: '+' };
}

export function dueRange({ at, after }: ResolvedDueQuery): IndexRange {
  const min = after ? `(${oldestFirst(after.at, after.sessionId)}` : '-';
  return { index: DUE, min, max: `(${digits(at, 1n)}` };
}

/** What has expired by a moment. */
export function expiryRange(now: Instant): IndexRange {
  return { index: EXPIRY, min: '-', max: `(${digits(now, 1n)}` };
}

/** The id of the session that an entry stands for. */
export function sessionIdOf(entry: Buffer): string {
  return entry.toString('utf8', DIGITS);
}

const FILTER_NAMES = Object.keys(FILTERS) as readonly (keyof typeof FILTERS)[];

function filterIndex(order: keyof typeof ORDERS, name: keyof typeof FILTERS, value: string): string {
  // Escaped as in JSON: a lone surrogate has no bytes of its own.
  return `${ORDERS[order]}:${FILTERS[name]}:${JSON.stringify(value).slice(1, -1)}`;
}

/** Enough for every instant, and for those before 1970. */
const DIGITS = 14;
const MIDDLE = 2n ** 53n;

function digits(at: Instant, more = 0n): string {
  return (MIDDLE + BigInt(at) + more).toString(16).padStart(DIGITS, '0');
}

function oldestFirst(at: Instant, sessionId: string): string {
  return digits(at) + sessionId;
}

function newestFirst(at: Instant, sessionId: string): string {
  return digits(-at) + sessionId;
}
