import { invalidArgument, StateFormatError } from '@holdfast/core';
import {
  compareDue,
  compareListedSessions,
  dueAt,
  fitsDue,
  fitsQuery,
  isExpired,
  listedSession,
} from '@holdfast/core/store';
import type { Instant, ListedSession } from '@holdfast/core';
import type { DueSession, ResolvedDueQuery, ResolvedSessionQuery, SessionRecord } from '@holdfast/core/store';
import { fromItem } from './header.ts';
import type { IndexOptions } from './header.ts';
import type { Item } from './item-size.ts';
import { instantKey, momentOf, orderKey, sessionIdOf, shardsOf } from './keys.ts';
import type { Generation } from './keys.ts';
import type { IndexName } from './table-definition.ts';
import type { Table } from './table.ts';

const MAX_BATCH = 100;
/** Sorts after every key of the moment before it. */
const LAST = '~';

/** A part of an index, and how many headers to read at once. */
interface Range {
  readonly from: string;
  readonly to: string;
  readonly batch: number;
}

/** What is looked for in an index. */
interface Search<T> extends Range {
  readonly index: IndexName;
  readonly count: number;
  /** What a header gives, if it fits. */
  readonly pick: (record: SessionRecord) => T | undefined;
  /** What a header gives that cannot be read; absent, or nothing: that is an error. */
  readonly pickUnread?: (place: Place) => T | undefined;
  readonly compare: (left: T, right: T) => number;
}

/**
 * Walks the indexes. They hold only keys, and lag: each session is then read consistently, and counts where its header
 * says it stands. One that moved since is found at its new place.
 */
export class SessionIndex {
  private readonly table: Table;
  private readonly options: IndexOptions;

  constructor(table: Table, options: IndexOptions) {
    this.table = table;
    this.options = options;
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly ListedSession[]> {
    const { order, after, limit, cursor: _, ...filters } = query;
    const isByActivity = order === 'lastActiveAt';
    if (isByActivity && !this.options.isActivityListed) {
      throw invalidArgument('The store does not list by last activity: isActivityListed is false.');
    }
    const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
    return this.search<ListedSession>({
      index: isByActivity ? 'active' : 'created',
      from: after ? orderKey(-after.at, after.sessionId) : '0',
      to: LAST,
      count: limit + 1,
      batch: isFiltered ? MAX_BATCH : limit + 1,
      pick: (record) => {
        const listed = listedSession(record);
        return !isExpired(record, now) && fitsQuery(listed, query) ? listed : undefined;
      },
      compare: compareListedSessions(order),
    });
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    const { at, after, limit } = query;
    return this.search<DueSession>({
      index: 'due',
      from: after ? orderKey(after.at, after.sessionId) : '0',
      to: `${instantKey(at)}${LAST}`,
      count: limit + 1,
      batch: limit + 1,
      pick: (record) => {
        const due = dueAt(record);
        const session = { sessionId: record.info.sessionId, dueAt: due ?? 0 };
        return due !== undefined && !isExpired(record, now) && fitsDue(session, query) ? session : undefined;
      },
      // Whoever looks at it hears what is wrong with it; others must not wait for that.
      pickUnread: ({ pk, key }) => {
        const sessionId = sessionIdOf(pk);
        return sessionId === undefined ? undefined : { sessionId, dueAt: momentOf(key) };
      },
      compare: compareDue,
    });
  }

  /** Searches the older generation first: a session that moves to the newer one meanwhile is found in at least one of them. */
  private async search<T extends Found>(search: Search<T>): Promise<readonly T[]> {
    const found = new Map<string, T>();
    for (const generation of await this.options.shards.live()) {
      for (const each of await this.searchIn(generation, search)) found.set(each.sessionId, each);
    }
    return [...found.values()].toSorted(search.compare).slice(0, search.count);
  }

  private async searchIn<T>(generation: Generation, search: Search<T>): Promise<readonly T[]> {
    const { index, compare, count, ...range } = search;
    const found: T[] = [];
    let tied: T[] = [];
    for await (const places of inBatches(
      this.places(generation, index, range),
      Math.min(MAX_BATCH, range.batch),
    )) {
      const headers = await this.table.headers([...new Set(places.map(({ pk }) => pk))]);
      for (const place of places) {
        const item = headers.get(place.pk);
        const isThere = item?.[index]?.S === place.key;
        const value = isThere ? await picked(search, item, place) : undefined;
        if (value !== undefined) tied.push(value);
        if (place.isTied) continue;
        if (found.push(...tied.toSorted(compare)) >= count) return found.slice(0, count);
        tied = [];
      }
    }
    return found;
  }

  /** The places in their order, each with whether the next one is the same. */
  private async *places(
    generation: Generation,
    index: IndexName,
    range: Range,
  ): AsyncGenerator<Place & { readonly isTied: boolean }> {
    let last: Place | undefined;
    for await (const place of this.merged(generation, index, range)) {
      if (last) yield { ...last, isTied: last.key === place.key };
      last = place;
    }
    if (last) yield { ...last, isTied: false };
  }

  /** The places of all shards of a generation in one order. */
  private async *merged(generation: Generation, index: IndexName, range: Range): AsyncGenerator<Place> {
    const shards = shardsOf(generation).map((shard) => this.shardPlaces(index, shard, range));
    const heads = await Promise.all(shards.map((shard) => shard.next()));
    for (;;) {
      let least = -1;
      for (const [shard, { value, done }] of heads.entries()) {
        if (!done && (least < 0 || isBefore(value, heads[least]?.value))) least = shard;
      }
      const place: Place | undefined = heads[least]?.value;
      const shard = shards[least];
      if (place === undefined || shard === undefined) return;
      yield place;
      heads[least] = await shard.next();
    }
  }

  private async *shardPlaces(
    index: IndexName,
    shard: string,
    { from, to, batch }: Range,
  ): AsyncGenerator<Place, undefined> {
    // Whoever comes last is compared with the next.
    const pages = this.table.shardPages(index, shard, { from, to, Limit: batch + 1 });
    for await (const items of pages) for (const item of items) yield placeOf(item, index);
  }
}

async function picked<T>({ pick, pickUnread }: Search<T>, item: Item, place: Place): Promise<T | undefined> {
  let record: SessionRecord;
  try {
    ({ record } = await fromItem(item));
  } catch (error) {
    const unread = error instanceof StateFormatError ? pickUnread?.(place) : undefined;
    if (unread === undefined) throw error;
    return unread;
  }
  return pick(record);
}

/** A session that was found. */
interface Found {
  readonly sessionId: string;
}

/** A session in an index. */
interface Place {
  readonly pk: string;
  readonly key: string;
}

function placeOf(item: Item, index: IndexName): Place {
  return { pk: item['pk']?.S ?? '', key: item[index]?.S ?? '' };
}

function isBefore(left: Place, right: Place | undefined): boolean {
  return right === undefined || left.key < right.key;
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
