import { StateFormatError, StoreUnavailableError } from '@holdfast/core';
import { dueAt, fitsQuery, isExpired, listedSession } from '@holdfast/core/store';
import type { Instant, ListedSession } from '@holdfast/core';
import type {
  DueSession,
  ItemRange,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionBackend,
  SessionRecord,
  StoreCapabilities,
  StoredItem,
  StoredSession,
  SwapResult,
} from '@holdfast/core/store';
import { evictionWarning, prepareKeys } from './prepare.ts';
import type { KeysRequest } from './prepare.ts';
import { readInbox } from './read-inbox.ts';
import { readSession } from './read-session.ts';
import type { SessionPlace } from './read-session.ts';
import type { RedisCalls } from './redis-calls.ts';
import type { RedisKeys } from './redis-keys.ts';
import { SWAP, SWAPPED } from './scripts.ts';
import type { ServerClock } from './server-clock.ts';
import { readRecord, RECORD_FIELDS } from './session-hash.ts';
import type { Fields } from './session-hash.ts';
import { dueRange, EXPIRY, expiryRange, listRange } from './session-indexes.ts';
import { sessionsAlong, unlessExpired } from './session-walk.ts';
import { swapInput } from './swap-arguments.ts';
import type { ScriptInput } from './swap-arguments.ts';

/** What a backend is made of. */
export interface RedisBackendFields extends KeysRequest {
  readonly calls: RedisCalls;
  readonly maxValueBytes: number;
  readonly minReplicas: number;
  readonly onWarning: (message: string) => void;
  /** Absent when the store has a clock of its own. */
  readonly serverClock: ServerClock | undefined;
}

/** The server may remove a hash so long after its session has expired: until then `prune` finds its index entries. */
const REMOVED_AFTER_MILLISECONDS = 3_600_000;
const REPLICAS_WAIT_MILLISECONDS = 1_000;
const MAX_RECONNECTIONS = 10;
/** So often a write also removes what has expired beside it, at most so many: nobody need call `prune`. */
const PRUNE_EVERY_WRITES = 20;
const PRUNE_BESIDE_LIMIT = 40;
const PRUNE_BATCH = 100;

/** Keeps each session in one hash, and changes it with one call of a script. */
export class RedisBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities;
  readonly now?: () => Promise<Instant>;
  private readonly fields: RedisBackendFields;
  private readonly calls: RedisCalls;
  private prepared: Promise<RedisKeys> | undefined;
  private lostConnections = 0;
  private expiringWrites = 0;

  constructor(fields: RedisBackendFields) {
    const { calls, serverClock, maxValueBytes, minReplicas } = fields;
    this.fields = fields;
    this.calls = calls;
    if (serverClock) this.now = () => this.ready().then(() => serverClock.now());
    const clock = serverClock ? 'server' : 'client';
    this.capabilities = Object.freeze({ listing: 'strong', clock, maxValueBytes });
    if (minReplicas > 0) calls.client.on('close', () => this.lostConnections++);
  }

  /** Looks at the server before anything else: what it holds, and what time it is there. */
  ready(): Promise<RedisKeys> {
    this.prepared ??= this.prepare().catch((error: unknown) => {
      this.prepared = undefined;
      throw error;
    });
    return this.prepared;
  }

  async read(sessionId: string): Promise<SessionRecord | undefined> {
    const key = (await this.ready()).session(sessionId);
    const [fields] = await this.calls.read<[Fields]>([['hmget', key, ...RECORD_FIELDS]]);
    return readRecord(fields, sessionId);
  }

  async readAll(sessionId: string): Promise<StoredSession | undefined> {
    return readSession(await this.placeOf(sessionId));
  }

  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    return readInbox(await this.placeOf(sessionId), incarnation, range);
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<SwapResult> {
    const keys = await this.ready();
    const expiresAt = this.now ? after?.expiresAt : undefined; // another clock than the server's decides
    const removeAt = expiresAt === undefined ? undefined : expiresAt + REMOVED_AFTER_MILLISECONDS;
    const swap = { sessionId, before, after, change, removeAt };
    const code = await this.swapKept(swapInput(swap, keys, this.fields.maxValueBytes));
    if (code === SWAPPED.torn) {
      const where = `session ${JSON.stringify(sessionId)}`;
      throw new StateFormatError(where, 'lists as long as they were written', 'a shorter one');
    }
    if (code === SWAPPED.duplicate) return 'duplicate';
    if (code !== SWAPPED.done) return 'outdated';
    if (expiresAt !== undefined) await this.pruneBeside(keys.bucketOf(sessionId));
    return 'done';
  }

  async list(query: ResolvedSessionQuery, now: Instant): Promise<readonly ListedSession[]> {
    const [keys, { calls }] = [await this.ready(), this];
    const pick = unlessExpired(now, (record) => {
      const listed = listedSession(record);
      return fitsQuery(listed, query) ? listed : undefined;
    });
    return sessionsAlong({ calls, keys, range: listRange(query), count: query.limit + 1, pick });
  }

  async due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    const [keys, { calls }] = [await this.ready(), this];
    const pick = unlessExpired(now, (record): DueSession | undefined => {
      const at = dueAt(record);
      return at === undefined ? undefined : { sessionId: record.info.sessionId, dueAt: at };
    });
    // Whoever looks at it hears what is wrong with it; others must not wait for that.
    const pickUnread = (sessionId: string, at: number): DueSession => ({ sessionId, dueAt: at });
    return sessionsAlong({ calls, keys, range: dueRange(query), count: query.limit + 1, pick, pickUnread });
  }

  async prune(now: Instant, limit: number): Promise<number> {
    return this.pruneIndexes((await this.ready()).indexes(EXPIRY), now, limit);
  }

  async close(): Promise<void> {
    this.calls.close();
  }

  private async placeOf(sessionId: string): Promise<SessionPlace> {
    return { calls: this.calls, key: (await this.ready()).session(sessionId), sessionId };
  }

  private async prepare(): Promise<RedisKeys> {
    const [keys, warning] = await Promise.all([
      prepareKeys(this.calls, this.fields),
      evictionWarning(this.calls),
    ]);
    if (warning !== undefined) this.fields.onWarning(warning);
    return keys;
  }

  /** Swaps, and sees to it that as many replicas as asked for have it. */
  private async swapKept({ keys, args }: ScriptInput): Promise<number> {
    const { minReplicas } = this.fields;
    for (let reconnections = 0; reconnections < MAX_RECONNECTIONS; reconnections++) {
      const { lostConnections } = this;
      const code = Number(await this.calls.run(SWAP, keys, args)); // some clients give numbers as texts
      if (code !== SWAPPED.done || minReplicas === 0) return code;
      const replicas = await this.calls.replicas(minReplicas, REPLICAS_WAIT_MILLISECONDS);
      // WAIT knows only of what its own connection wrote, and a new one may lead to another master.
      if (lostConnections !== this.lostConnections) continue;
      if (replicas >= minReplicas) return code;
      throw notReplicated(`${replicas} of ${minReplicas} replicas have it after a second.`);
    }
    throw notReplicated('The connection was lost again and again.');
  }

  /** The write was done: what goes wrong here is no failure of it. */
  private async pruneBeside(bucket: number): Promise<void> {
    if (!this.now || ++this.expiringWrites % PRUNE_EVERY_WRITES !== 0) return;
    const indexKeys = [(await this.ready()).index(bucket, EXPIRY)];
    await this.pruneIndexes(indexKeys, await this.now(), PRUNE_BESIDE_LIMIT).catch(() => 0);
  }

  private async pruneIndexes(indexKeys: readonly string[], now: Instant, limit: number): Promise<number> {
    const [keys, { calls }] = [await this.ready(), this];
    let removed = 0;
    for (;;) {
      const count = Math.min(limit - removed, PRUNE_BATCH);
      if (count === 0) return removed;
      const pick = (record: SessionRecord) => (isExpired(record, now) ? record : undefined);
      const expired = await sessionsAlong({ calls, keys, indexKeys, range: expiryRange(now), count, pick });
      if (expired.length === 0) return removed;
      const swaps = expired.map((record) => this.swap(record.info.sessionId, record, undefined, {}));
      removed += (await Promise.all(swaps)).filter((result) => result === 'done').length;
    }
  }
}

function notReplicated(why: string): StoreUnavailableError {
  return new StoreUnavailableError(`The write was done, but may be lost in a failover. ${why}`, {
    isAmbiguous: true,
  });
}
