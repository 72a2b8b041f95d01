import { invalidArgument, StateFormatError, type Instant, type ListedSession } from '@holdfast/core';
import {
  compareDueSessions,
  compareListedSessions,
  isAfterCursor,
  recordDueAt,
  matchesDueQuery,
  matchesSessionQuery,
  isExpired,
  listedSession,
  type DueSession,
  type ResolvedDueQuery,
  type ResolvedSessionQuery,
  type SessionRecord,
  type UnreadableEntry,
} from '@holdfast/core/store';
import { headerFromItem, type IndexOptions } from '../header/header-item.ts';
import { shardsOf } from '../shards/generation.ts';
import type { Item } from '../table/item.ts';
import {
  HEADER,
  instantKey,
  instantOf,
  orderKey,
  ownerKey,
  partitionOf,
  sessionIdOf,
} from '../table/keys.ts';
import { INDEXES, OWNER } from '../table/table-definition.ts';
import { LAST_KEY, type Table } from '../table/table.ts';
import { mergedIndex, type IndexEntry, type IndexRange } from './merged-index.ts';

const MAX_BATCH = 100;
/** Sorts before every key of an index. */
const FIRST_KEY = '0';

interface Search<T> extends IndexRange {
  /** The key of the owner, for an index of owners. */
  readonly owner?: string | undefined;
  readonly count: number;
  /** Returns the result for a session; `undefined` omits the session. */
  readonly pick: (record: SessionRecord) => T | undefined;
  /** The key that a record has in the index. */
  readonly keyOf: (record: SessionRecord) => string | undefined;
  /** Returns the result for an unreadable header with a key; `undefined` omits it. */
  readonly pickUnreadable: (key: string, found: Omit<UnreadableEntry, 'at'>) => T | undefined;
  readonly compare: (left: T, right: T) => number;
}

/** For each index of all sessions, the index of owners in the same order. */
const OWNER_INDEX = { created: 'ownedCreated', active: 'ownedActive' } as const;

interface FoundSession {
  readonly sessionId: string;
}

/**
 * Searches the indexes. An index holds only keys, and lags behind the table. So the search reads the header of each
 * session consistently, and skips an entry whose key the header no longer has. The session is found at its new key.
 * The sessions of one owner are in one partition of an index; all sessions together are in shards.
 */
export class SessionIndex {
  private readonly table: Table;
  private readonly options: IndexOptions;

  constructor(table: Table, options: IndexOptions) {
    this.table = table;
    this.options = options;
  }

  async list(
    query: ResolvedSessionQuery,
    now: Instant,
  ): Promise<readonly (ListedSession | UnreadableEntry)[]> {
    const { order, after, limit, owner, cursor: _, ...filters } = query;
    const index = order === 'lastActiveAt' ? 'active' : 'created';
    if (index === 'active' && !this.options.isActivityListed) {
      throw invalidArgument(
        'This store cannot list by lastActiveAt: its option isActivityListed is false. List by createdAt.',
      );
    }
    const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
    return this.search<ListedSession | UnreadableEntry>({
      ...(owner === undefined ? { index } : { index: OWNER_INDEX[index], owner: ownerKey(owner) }),
      from: after ? orderKey(-after.at, after.sessionId) : FIRST_KEY,
      to: LAST_KEY,
      count: limit + 1,
      batch: isFiltered ? MAX_BATCH : limit + 1,
      pick: (record) => {
        const listed = listedSession(record);
        return !isExpired(record, now) && matchesSessionQuery(listed, query) ? listed : undefined;
      },
      keyOf: (record) => orderKey(-listedSession(record)[order], record.info.sessionId),
      pickUnreadable: (key, found) => {
        const entry = { ...found, at: 0 - instantOf(key) };
        return isAfterCursor(entry, query) ? entry : undefined;
      },
      compare: compareListedSessions(order),
    });
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly (DueSession | UnreadableEntry)[]> {
    const { at, after, limit } = query;
    return this.search<DueSession | UnreadableEntry>({
      index: 'due',
      from: after ? orderKey(after.at, after.sessionId) : FIRST_KEY,
      to: `${instantKey(at)}${LAST_KEY}`,
      count: limit + 1,
      batch: limit + 1,
      pick: (record) => {
        const due = recordDueAt(record);
        const session = { sessionId: record.info.sessionId, dueAt: due ?? 0 };
        return due !== undefined && !isExpired(record, now) && matchesDueQuery(session, query)
          ? session
          : undefined;
      },
      keyOf: (record) => {
        const dueAt = recordDueAt(record);
        return dueAt === undefined ? undefined : orderKey(dueAt, record.info.sessionId);
      },
      pickUnreadable: (key, found) => {
        const entry = { ...found, at: instantOf(key) };
        return matchesDueQuery(entry, query) ? entry : undefined;
      },
      compare: compareDueSessions,
    });
  }

  /** Returns whether the header of a session has the key of an owner. */
  async isOwnedBy(sessionId: string, owner: string): Promise<boolean> {
    const item = await this.table.get({ pk: partitionOf(sessionId), sk: HEADER });
    return item?.[OWNER]?.S === ownerKey(owner);
  }

  /**
   * Searches the older generation of shards first. A session that moves during the search is then found in at least one
   * generation. The partition of an owner does not change when a session moves.
   */
  private async search<T extends FoundSession>(search: Search<T>): Promise<readonly T[]> {
    const generations = await this.options.shards.liveGenerations();
    if (search.owner !== undefined) return this.searchIn([search.owner], search);
    const found = new Map<string, T>();
    for (const generation of generations) {
      for (const each of await this.searchIn(shardsOf(generation), search)) found.set(each.sessionId, each);
    }
    return [...found.values()].toSorted(search.compare).slice(0, search.count);
  }

  /** The first sessions of some partitions. Long ids can share a key, so this sorts the sessions with the same key. */
  private async searchIn<T>(partitions: readonly string[], search: Search<T>): Promise<readonly T[]> {
    const { compare, count, batch } = search;
    const found: T[] = [];
    let tied: T[] = [];
    const entries = mergedIndex(this.table, partitions, search);
    for await (const some of inBatches(entries, Math.min(MAX_BATCH, batch))) {
      const headers = await this.table.headers([...new Set(some.map(({ pk }) => pk))]);
      for (const entry of some) {
        const item = headers.get(entry.pk);
        const picked =
          item && isCurrent(item, entry, search) ? await pickHeader(search, item, entry) : undefined;
        if (picked !== undefined) tied.push(picked);
        if (entry.isTied) continue;
        if (found.push(...tied.toSorted(compare)) >= count) return found.slice(0, count);
        tied = [];
      }
    }
    return found;
  }
}

/** Returns whether a header still has the key of an index entry, and the owner. */
function isCurrent<T>(item: Item, { key }: IndexEntry, { index, owner }: Search<T>): boolean {
  return item[INDEXES[index].range]?.S === key && (owner === undefined || item[OWNER]?.S === owner);
}

/** Returns the result for a header. A header that is unreadable, or disagrees with its key, must not end the search. */
async function pickHeader<T>(
  { pick, pickUnreadable, keyOf }: Search<T>,
  item: Item,
  { key }: IndexEntry,
): Promise<T | undefined> {
  const sessionId = sessionIdOf(item);
  try {
    const { record } = await headerFromItem(item);
    if (keyOf(record) === key) return pick(record);
    throw new StateFormatError(`session ${JSON.stringify(sessionId)}`, `the key ${key}`, 'another record');
  } catch (error) {
    if (error instanceof StateFormatError) return pickUnreadable(key, { sessionId, error });
    throw error;
  }
}

async function* inBatches<T>(values: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  for await (const value of values) {
    batch.push(value);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
