import { StateFormatError } from '@holdfast/core';
import { isExpired } from '@holdfast/core/store';
import type { Instant } from '@holdfast/core';
import type { SessionRecord } from '@holdfast/core/store';
import { IndexWalk } from './index-walk.ts';
import type { IndexEntry } from './index-walk.ts';
import type { ReadCommand, RedisCalls } from './redis-calls.ts';
import type { RedisKeys } from './redis-keys.ts';
import { DROP } from './scripts.ts';
import { readRecord, RECORD_FIELDS } from './session-hash.ts';
import type { Fields } from './session-hash.ts';
import { scoreIn } from './session-indexes.ts';
import type { IndexRange } from './session-indexes.ts';

const LONGEST_STEP = 500;
const UNREAD = Symbol('a session that cannot be read');

/** Which sessions to look at, and what to make of them. */
export interface SessionWalk<T> {
  readonly calls: RedisCalls;
  readonly keys: RedisKeys;
  readonly range: IndexRange;
  /** The index of some buckets only. */
  readonly indexKeys?: readonly string[];
  readonly count: number;
  /** `undefined`: not what is asked for. */
  readonly pick: (record: SessionRecord) => T | undefined;
  /** What to make of a session that cannot be read; absent: that is an error. */
  readonly pickUnread?: (sessionId: string, score: number) => T;
}

/**
 * What is picked of the sessions along a part of an index, in its order. An entry says only where to look: what does not
 * agree with the session's record, because the hash was evicted or removed by the server, is dropped.
 */
export async function sessionsAlong<T>(walk: SessionWalk<T>): Promise<readonly T[]> {
  const { calls, keys, range, count, pick } = walk;
  const steps = new IndexWalk(calls, walk.indexKeys ?? keys.indexes(range.index), range, count);
  const found: T[] = [];
  // The more that was not what is asked for, the longer the steps.
  for (let step = count; found.length < count; step *= 2) {
    const entries = await steps.take(Math.min(step, LONGEST_STEP));
    if (entries.length === 0) break;
    const records = await recordsOf(walk, entries);
    const stale: Promise<unknown>[] = [];
    for (const entry of entries) {
      const record = records.get(String(entry.id));
      if (record === UNREAD) {
        if (walk.pickUnread) found.push(walk.pickUnread(String(entry.id), entry.score));
        continue;
      }
      const isStale = !record || scoreIn(record, range.index) !== entry.score;
      if (isStale) stale.push(drop(walk, entry, record));
      const picked = isStale ? undefined : pick(record);
      if (picked !== undefined) found.push(picked);
    }
    await Promise.all(stale);
  }
  return found.slice(0, count);
}

/** The records of the sessions that are there, by id. One request to each bucket. */
async function recordsOf(
  { calls, keys, pickUnread }: Pick<SessionWalk<unknown>, 'calls' | 'keys' | 'pickUnread'>,
  entries: readonly IndexEntry[],
): Promise<ReadonlyMap<string, SessionRecord | typeof UNREAD>> {
  const sessionIds = entries.map(({ id }) => String(id));
  const buckets = Map.groupBy(sessionIds, (sessionId) => keys.bucketOf(sessionId));
  const records = new Map<string, SessionRecord | typeof UNREAD>();
  const read = async (some: readonly string[]): Promise<void> => {
    const asked = some.map((sessionId): ReadCommand => ['hmget', keys.session(sessionId), ...RECORD_FIELDS]);
    const found = await calls.read<readonly Fields[]>(asked);
    for (const [place, sessionId] of some.entries()) {
      const fields = found[place] ?? [];
      const record = pickUnread ? readOrNot(fields, sessionId) : readRecord(fields, sessionId);
      if (record) records.set(sessionId, record);
    }
  };
  await Promise.all([...buckets.values()].map(read));
  return records;
}

function readOrNot(fields: Fields, sessionId: string): SessionRecord | typeof UNREAD | undefined {
  try {
    return readRecord(fields, sessionId);
  } catch (error) {
    if (error instanceof StateFormatError) return UNREAD;
    throw error;
  }
}

/** What `pick` gives, unless the session has expired. */
export function unlessExpired<T>(
  now: Instant,
  pick: (record: SessionRecord) => T | undefined,
): (record: SessionRecord) => T | undefined {
  return (record) => (isExpired(record, now) ? undefined : pick(record));
}

/** Removes an entry, if it and the session still are what they were judged by. */
function drop(
  { calls, keys }: Pick<SessionWalk<unknown>, 'calls' | 'keys'>,
  { id, score, indexKey }: IndexEntry,
  record: SessionRecord | undefined,
): Promise<unknown> {
  const judgedBy = [record?.token ?? '', id, score];
  return calls.run(DROP, [keys.session(String(id)), indexKey], judgedBy);
}
