import { dueAt } from '@holdfast/core/store';
import type { Instant, SessionInfo } from '@holdfast/core';
import type { ResolvedDueQuery, ResolvedSessionQuery, SessionRecord } from '@holdfast/core/store';
import { toName } from './session-hash.ts';

/** By what a list can be filtered, the most selective first, and what stands for it in the name of an index. */
const FILTERS = {
  parentId: 'p',
  waitingFor: 'w',
  agentName: 'a',
  executionStatus: 'e',
  status: 's',
} as const satisfies Partial<Record<keyof SessionInfo, string>>;

const ORDERS = { createdAt: 'c', lastActiveAt: 'l' };

/** Sessions that need somebody, by when. */
const DUE = 'd';
/** Sessions that will be forgotten, by when. */
export const EXPIRY = 'x';

/** An entry of an index that a write sets or removes. */
export interface IndexMove {
  readonly index: string;
  /** `undefined`: the entry is removed. */
  readonly score: number | undefined;
}

type Facts = SessionRecord | undefined;

/**
 * The entries of a session that change when one record takes the place of another. All that it has, where there was none.
 *
 * Lists show the newest first, so the score is the moment's opposite there. Redis orders equal scores by id. A page can
 * begin after any place, also one where nothing is any more.
 */
export function indexMoves(before: Facts, after: Facts): readonly IndexMove[] {
  const moves: IndexMove[] = [];
  const move = (index: string, old: number | undefined, score: number | undefined): void => {
    if (old !== score) moves.push({ index, score });
  };
  move(DUE, before && dueAt(before), after && dueAt(after));
  move(EXPIRY, before?.expiresAt, after?.expiresAt);
  addListMoves(ORDERS.createdAt, before, after, ({ info }) => info.createdAt, moves);
  addListMoves(ORDERS.lastActiveAt, before, after, ({ lastActiveAt }) => lastActiveAt, moves);
  return moves;
}

/** The score of a session in an index; `undefined` where it has no entry. */
export function scoreIn(record: SessionRecord, index: string): number | undefined {
  return indexMoves(undefined, record).find((move) => move.index === index)?.score;
}

/** The moves in the lists of one order. */
function addListMoves(
  order: string,
  before: Facts,
  after: Facts,
  momentOf: (record: SessionRecord) => Instant,
  moves: IndexMove[],
): void {
  const [old, score] = [before && newestFirst(momentOf(before)), after && newestFirst(momentOf(after))];
  if (old !== score) moves.push({ index: order, score });
  for (const name of FILTER_NAMES) {
    const [oldValue, value] = [before?.info[name], after?.info[name]];
    if (oldValue === value && old === score) continue; // most writes: no name of an index is made
    if (oldValue !== undefined && oldValue !== value) {
      moves.push({ index: order + filterName(name, oldValue), score: undefined });
    }
    if (value !== undefined) moves.push({ index: order + filterName(name, value), score });
  }
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
