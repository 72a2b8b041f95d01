import { StateFormatError, StoreUnavailableError, type Instant, type ListedSession } from '@holdfast/core';
import {
  recordDueAt,
  matchesSessionQuery,
  isExpired,
  listedSession,
  parseSeenWorker,
  type DueSession,
  type ItemRange,
  type ReadRequest,
  type ReadSession,
  type RecordChange,
  type ResolvedDueQuery,
  type ResolvedSessionQuery,
  type SeenWorker,
  type SessionBackend,
  type SessionRecord,
  type StoreCapabilities,
  type StoredItem,
  type UnreadableEntry,
  type CompareAndSetResult,
} from '@holdfast/core/store';
import { compareAndSetInput, discardInput, type ScriptInput } from './compare-and-set.ts';
import { findSessions, pickUnexpired } from './indexes/find-sessions.ts';
import { dueRange, EXPIRY, expiryRange, listIndexes, listRange } from './indexes/session-indexes.ts';
import { preparePrefix, type PrefixOptions } from './layout/prepare-prefix.ts';
import { escapeName, type RedisKeys } from './layout/redis-keys.ts';
import { COMPARE_AND_SET, RESULT, WORKERS } from './scripts/redis-script.ts';
import { evictionWarning } from './server/eviction.ts';
import type { ReadCommand, RedisCalls } from './server/redis-calls.ts';
import type { ServerClock } from './server/server-clock.ts';
import { readArchive, readInbox, readPosition } from './session/read-inbox.ts';
import { readSession, type SessionLocation } from './session/read-session.ts';
import { readRecord, RECORD_FIELDS, type FieldValues } from './session/hash-fields.ts';

export interface RedisBackendInit extends PrefixOptions {
  readonly calls: RedisCalls;
  readonly maxValueBytes: number;
  readonly minReplicas: number;
  readonly onWarning: (message: string) => void;
  /** Absent when the caller of the store has set a clock. */
  readonly serverClock: ServerClock | undefined;
}

/** The time from the expiry of a session until the server removes its hash. Until then, `prune` finds its index entries. */
const REMOVAL_DELAY_MS = 3_600_000;
const REPLICAS_WAIT_MS = 1_000;
const MAX_RECONNECTIONS = 10;
/** After this number of writes of expiring sessions, a write also prunes, so that no caller needs to call `prune`. */
const WRITES_BETWEEN_PRUNES = 20;
const MAX_PRUNED_BY_WRITE = 40;
const PRUNE_BATCH = 100;

/** Stores each session in one hash, and changes it with one call of a script. */
export class RedisBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities;
  readonly now?: () => Promise<Instant>;
  private readonly init: RedisBackendInit;
  private readonly calls: RedisCalls;
  private preparing: Promise<RedisKeys> | undefined;
  private closedConnections = 0;
  private expiringWrites = 0;

  constructor(init: RedisBackendInit) {
    const { calls, serverClock, maxValueBytes, minReplicas } = init;
    this.init = init;
    this.calls = calls;
    if (serverClock) this.now = () => this.ready().then(() => serverClock.now());
    const clock = serverClock ? 'server' : 'client';
    this.capabilities = Object.freeze({ listing: 'strong', clock, maxValueBytes });
    if (minReplicas > 0) calls.client.on('close', () => this.closedConnections++);
  }

  /** The keys of the store. The first call checks the layout on the server, and learns the server's time. */
  ready(): Promise<RedisKeys> {
    this.preparing ??= this.prepare().catch((error: unknown) => {
      this.preparing = undefined;
      throw error;
    });
    return this.preparing;
  }

  async readRecord(sessionId: string): Promise<SessionRecord | undefined> {
    const key = (await this.ready()).session(sessionId);
    const [values] = await this.calls.read<[FieldValues]>([['hmget', key, ...RECORD_FIELDS]]);
    return readRecord(values, sessionId);
  }

  async readSession(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined> {
    return readSession(await this.locationOf(sessionId), request);
  }

  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    return readInbox(await this.locationOf(sessionId), incarnation, range);
  }

  async readPosition(sessionId: string, incarnation: string, itemId: string): Promise<number | undefined> {
    return readPosition(await this.locationOf(sessionId), incarnation, itemId);
  }

  async readArchive(
    sessionId: string,
    incarnation: string,
    archive: string,
    range: ItemRange,
  ): Promise<readonly StoredItem[]> {
    return readArchive(await this.locationOf(sessionId), incarnation, archive, range);
  }

  async announce({ workerName, ...worker }: SeenWorker, until: Instant): Promise<void> {
    const { workers } = await this.ready();
    const isGone = until <= worker.seenAt;
    const json = JSON.stringify({ workerName, ...worker });
    await this.calls.run(
      WORKERS,
      [workers],
      [worker.seenAt, escapeName(workerName), isGone ? '' : until, json],
    );
  }

  async workers(now: Instant): Promise<readonly SeenWorker[]> {
    const { workers } = await this.ready();
    const found = await this.calls.run<readonly Buffer[]>(WORKERS, [workers], [now, '', '', '']);
    return found.flatMap((json) => parseSeenWorker(String(json)) ?? []);
  }

  async compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<CompareAndSetResult> {
    const keys = await this.ready();
    // With a clock of the caller, the server does not remove hashes, because its clock may differ.
    const expiresAt = this.now ? after?.expiresAt : undefined;
    const removeAt = expiresAt === undefined ? undefined : expiresAt + REMOVAL_DELAY_MS;
    const write = { sessionId, before, after, change, removeAt };
    const result = await this.replicate(compareAndSetInput(write, keys, this.init.maxValueBytes));
    if (result === RESULT.torn) {
      const where = `session ${JSON.stringify(sessionId)}`;
      throw new StateFormatError(where, 'lists of the length that the store has written', 'a shorter list');
    }
    if (result === RESULT.duplicate) return 'duplicate';
    if (result !== RESULT.done) return 'outdated';
    if (expiresAt !== undefined) await this.pruneBucket(keys.bucketOf(sessionId));
    return 'done';
  }

  /** Its index entries are dropped when a list meets them. A hash without a token is not a session of this store. */
  async discard(sessionId: string): Promise<boolean> {
    const key = (await this.ready()).session(sessionId);
    const [[token, record]] = await this.calls.read<[FieldValues]>([['hmget', key, ...RECORD_FIELDS]]);
    if (!token && !record) return false;
    if (!token) throw new StateFormatError(`session ${JSON.stringify(sessionId)}`, 'a token', 'nothing');
    return (await this.replicate(discardInput(key, token))) === RESULT.done;
  }

  async isOwnedBy(sessionId: string, owner: string): Promise<boolean> {
    return this.isInIndexes(sessionId, listIndexes({ order: 'createdAt', owner }));
  }

  async list(
    query: ResolvedSessionQuery,
    now: Instant,
  ): Promise<readonly (ListedSession | UnreadableEntry)[]> {
    const [keys, { calls }] = [await this.ready(), this];
    const pick = pickUnexpired<ListedSession | UnreadableEntry>(now, (record) => {
      const listed = listedSession(record);
      return matchesSessionQuery(listed, query) ? listed : undefined;
    });
    const indexes = listIndexes(query);
    const pickUnreadable = async (entry: UnreadableEntry): Promise<UnreadableEntry | undefined> =>
      (await this.isInIndexes(entry.sessionId, indexes)) ? entry : undefined;
    return findSessions({
      calls,
      keys,
      range: listRange(query),
      count: query.limit + 1,
      pick,
      pickUnreadable,
    });
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly (DueSession | UnreadableEntry)[]> {
    const [keys, { calls }] = [await this.ready(), this];
    const pick = pickUnexpired(now, (record): DueSession | UnreadableEntry | undefined => {
      const at = recordDueAt(record);
      return at === undefined ? undefined : { sessionId: record.info.sessionId, dueAt: at };
    });
    const pickUnreadable = async (entry: UnreadableEntry): Promise<UnreadableEntry> => entry;
    const range = dueRange(query);
    return findSessions({ calls, keys, range, count: query.limit + 1, pick, pickUnreadable });
  }

  async prune(now: Instant, limit: number): Promise<number> {
    return this.pruneIndexes((await this.ready()).indexes(EXPIRY), now, limit);
  }

  close(): Promise<void> {
    return this.calls.close();
  }

  /** Returns whether all these indexes have an entry of a session, with the same score. */
  private async isInIndexes(sessionId: string, indexes: readonly string[]): Promise<boolean> {
    const keys = await this.ready();
    const bucket = keys.bucketOf(sessionId);
    const commands = indexes.map((index): ReadCommand => ['zscore', keys.index(bucket, index), sessionId]);
    const [first, ...scores] = await this.calls.read<readonly (Buffer | null)[]>(commands);
    return first !== null && scores.every((score) => score !== null && String(score) === String(first));
  }

  private async locationOf(sessionId: string): Promise<SessionLocation> {
    return { calls: this.calls, key: (await this.ready()).session(sessionId), sessionId };
  }

  private async prepare(): Promise<RedisKeys> {
    const [keys, warning] = await Promise.all([
      preparePrefix(this.calls, this.init),
      evictionWarning(this.calls),
    ]);
    if (warning !== undefined) this.init.onWarning(warning);
    return keys;
  }

  /** Runs `COMPARE_AND_SET`, and waits until as many replicas as required have the write. */
  private async replicate({ keys, args }: ScriptInput): Promise<number> {
    const { minReplicas } = this.init;
    for (let reconnections = 0; reconnections < MAX_RECONNECTIONS; reconnections++) {
      const { closedConnections } = this;
      const result = Number(await this.calls.run(COMPARE_AND_SET, keys, args)); // some clients return texts
      if (result !== RESULT.done || minReplicas === 0) return result;
      const replicas = await this.calls.waitForReplicas(minReplicas, REPLICAS_WAIT_MS);
      // WAIT counts the writes of its own connection only, and a new connection may lead to another master.
      if (closedConnections !== this.closedConnections) continue;
      if (replicas >= minReplicas) return result;
      throw notReplicated(`${replicas} of ${minReplicas} replicas have the write after a second.`);
    }
    throw notReplicated(`The connection was lost ${MAX_RECONNECTIONS} times.`);
  }

  /** Prunes a bucket after some writes. An error here is not an error of the write. */
  private async pruneBucket(bucket: number): Promise<void> {
    if (!this.now || ++this.expiringWrites % WRITES_BETWEEN_PRUNES !== 0) return;
    const indexKeys = [(await this.ready()).index(bucket, EXPIRY)];
    await this.pruneIndexes(indexKeys, await this.now(), MAX_PRUNED_BY_WRITE).catch(() => 0);
  }

  private async pruneIndexes(indexKeys: readonly string[], now: Instant, limit: number): Promise<number> {
    const [keys, { calls }] = [await this.ready(), this];
    let removed = 0;
    for (;;) {
      const count = Math.min(limit - removed, PRUNE_BATCH);
      if (count === 0) return removed;
      const pick = (record: SessionRecord) => (isExpired(record, now) ? record : undefined);
      const expired = await findSessions({ calls, keys, indexKeys, range: expiryRange(now), count, pick });
      if (expired.length === 0) return removed;
      const deletes = expired.map((record) =>
        this.compareAndSet(record.info.sessionId, record, undefined, {}),
      );
      removed += (await Promise.all(deletes)).filter((result) => result === 'done').length;
    }
  }
}

function notReplicated(why: string): StoreUnavailableError {
  return new StoreUnavailableError(`The write was done, but may be lost in a failover. ${why}`, {
    isAmbiguous: true,
  });
}
