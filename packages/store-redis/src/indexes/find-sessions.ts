import { StateFormatError, type Instant } from '@holdfast/core';
import { isExpired, type SessionRecord, type UnreadableEntry } from '@holdfast/core/store';
import type { RedisKeys } from '../layout/redis-keys.ts';
import { DROP_INDEX_ENTRY } from '../scripts/redis-script.ts';
import type { ReadCommand, RedisCalls } from '../server/redis-calls.ts';
import { readRecord, RECORD_FIELDS, type FieldValues } from '../session/hash-fields.ts';
import { IndexWalk, type IndexEntry } from './index-walk.ts';
import { instantIn, scoreIn, type IndexRange } from './session-indexes.ts';

const MAX_ENTRIES = 500;

export interface SessionSearch<T> {
  readonly calls: RedisCalls;
  readonly keys: RedisKeys;
  readonly range: IndexRange;
  /** The parts of the index to search; absent: those of all buckets. */
  readonly indexKeys?: readonly string[];
  readonly count: number;
  /** Returns the result for a session; `undefined` omits the session. */
  readonly pick: (record: SessionRecord) => T | undefined;
  /** Returns the result for an unreadable session. Without this function, the search omits it. */
  readonly pickUnreadable?: (entry: UnreadableEntry) => Promise<T | undefined>;
}

/**
 * Returns the results of `pick` for the sessions of a range, in its order. An index entry is only a hint. If the
 * session's record does not agree with it, because the server evicted or removed the hash, the entry is dropped.
 */
export async function findSessions<T>(search: SessionSearch<T>): Promise<readonly T[]> {
  const { calls, keys, range, count } = search;
  const walk = new IndexWalk(calls, search.indexKeys ?? keys.indexes(range.index), range, count);
  const found: T[] = [];
  // Each step reads twice as many entries as the step before, for filters that match few sessions.
  for (let step = count; found.length < count; step *= 2) {
    const entries = await walk.take(Math.min(step, MAX_ENTRIES));
    if (entries.length === 0) break;
    found.push(...(await pickEntries(search, entries)));
  }
  return found.slice(0, count);
}

/** Returns the results of `pick` for the sessions of some entries. Drops stale entries. */
async function pickEntries<T>(search: SessionSearch<T>, entries: readonly IndexEntry[]): Promise<T[]> {
  const { range, pick, pickUnreadable } = search;
  const records = await readRecords(search, entries);
  const found: T[] = [];
  const drops: Promise<unknown>[] = [];
  for (const entry of entries) {
    const sessionId = String(entry.id);
    const record = records.get(sessionId);
    if (record instanceof StateFormatError) {
      const at = instantIn(entry.score, range.index);
      const picked = await pickUnreadable?.({ sessionId, at, error: record });
      if (picked !== undefined) found.push(picked);
    } else if (!record || scoreIn(record, range.index) !== entry.score) {
      drops.push(dropEntry(search, entry, record));
    } else {
      const picked = pick(record);
      if (picked !== undefined) found.push(picked);
    }
  }
  await Promise.all(drops);
  return found;
}

/** The records of the sessions that exist, by id, with one request for each bucket. */
async function readRecords(
  { calls, keys }: Pick<SessionSearch<unknown>, 'calls' | 'keys'>,
  entries: readonly IndexEntry[],
): Promise<ReadonlyMap<string, SessionRecord | StateFormatError>> {
  const sessionIds = entries.map(({ id }) => String(id));
  const buckets = Map.groupBy(sessionIds, (sessionId) => keys.bucketOf(sessionId));
  const records = new Map<string, SessionRecord | StateFormatError>();
  const readBucket = async (ids: readonly string[]): Promise<void> => {
    const commands = ids.map((sessionId): ReadCommand => [
      'hmget',
      keys.session(sessionId),
      ...RECORD_FIELDS,
    ]);
    const replies = await calls.read<readonly FieldValues[]>(commands).catch(stateFormatError);
    if (replies instanceof StateFormatError) {
      // A key has another type, and the error is that of all commands.
      const [sessionId = '', ...others] = ids;
      if (others.length === 0) records.set(sessionId, replies);
      else await Promise.all(ids.map((id) => readBucket([id])));
      return;
    }
    for (const [index, sessionId] of ids.entries()) {
      const record = recordOrError(replies[index] ?? [], sessionId);
      if (record) records.set(sessionId, record);
    }
  };
  await Promise.all([...buckets.values()].map(readBucket));
  return records;
}

function recordOrError(values: FieldValues, sessionId: string): SessionRecord | StateFormatError | undefined {
  try {
    return readRecord(values, sessionId);
  } catch (error) {
    return stateFormatError(error);
  }
}

/** Returns a StateFormatError. @throws any other error */
function stateFormatError(error: unknown): StateFormatError {
  if (error instanceof StateFormatError) return error;
  throw error;
}

/** Wraps `pick` in a function that omits expired sessions. */
export function pickUnexpired<T>(
  now: Instant,
  pick: (record: SessionRecord) => T | undefined,
): (record: SessionRecord) => T | undefined {
  return (record) => (isExpired(record, now) ? undefined : pick(record));
}

/** Removes an entry, unless it or its session has changed since. */
function dropEntry(
  { calls, keys }: Pick<SessionSearch<unknown>, 'calls' | 'keys'>,
  { id, score, indexKey }: IndexEntry,
  record: SessionRecord | undefined,
): Promise<unknown> {
  const expected = [record?.token ?? '', id, score];
  return calls.run(DROP_INDEX_ENTRY, [keys.session(String(id)), indexKey], expected);
}
