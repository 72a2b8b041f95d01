import type { Instant, ListedSession } from '@holdfast/core';
import type {
  DueSession,
  ItemRange,
  ReadRequest,
  ReadSession,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SeenWorker,
  SessionBackend,
  SessionRecord,
  StoreCapabilities,
  StoredItem,
  UnreadableEntry,
  CompareAndSetResult,
} from '@holdfast/core/store';
import type { Archives } from './archives/archives.ts';
import { blobsRequiredError } from './blobs/blobs.ts';
import type { Inbox } from './inbox/inbox.ts';
import type { SessionIndex } from './indexes/session-index.ts';
import { MAX_VALUE_BYTES } from './log/plan-entries.ts';
import type { IncarnationRemoval } from './session/incarnation-removal.ts';
import type { SessionLoader } from './session/session-loader.ts';
import type { SessionWrites } from './session/session-writes.ts';
import type { ShardMover } from './shards/shard-mover.ts';
import type { Shards } from './shards/shards.ts';
import type { Sweeper } from './sweep/sweeper.ts';
import { partitionOf } from './table/keys.ts';
import type { AnnouncedWorkers } from './workers/announced-workers.ts';

export interface DynamoDbBackendInit {
  readonly loader: SessionLoader;
  readonly writes: SessionWrites;
  readonly removal: IncarnationRemoval;
  readonly inbox: Inbox;
  readonly archives: Archives;
  readonly index: SessionIndex;
  readonly shards: Shards;
  readonly mover: ShardMover;
  readonly sweeper: Sweeper;
  readonly workers: AnnouncedWorkers;
  readonly close: () => void;
  /** Whether the store writes large values to a blob store. */
  readonly hasBlobs: boolean;
}

/** Stores each session as a header and the items that the header names. `PROTOCOL.md` explains the writes. */
export class DynamoDbBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities;
  private readonly init: DynamoDbBackendInit;

  constructor(init: DynamoDbBackendInit) {
    this.init = init;
    const maxValueBytes = init.hasBlobs ? undefined : MAX_VALUE_BYTES;
    this.capabilities = { listing: 'eventual', clock: 'client', maxValueBytes };
  }

  async readRecord(sessionId: string): Promise<SessionRecord | undefined> {
    await this.init.shards.check();
    return (await this.init.loader.readHeader(partitionOf(sessionId)))?.record;
  }

  async readSession(sessionId: string, request: ReadRequest): Promise<ReadSession | undefined> {
    await this.init.shards.check();
    return this.init.loader.read(sessionId, request);
  }

  /**
   * Reads inbox items. It may return items of an incarnation that is being deleted. This does no harm, because the
   * header refuses the write that uses them.
   */
  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    await this.init.shards.check();
    return this.init.inbox.read(sessionId, incarnation, range);
  }

  async readPosition(sessionId: string, incarnation: string, itemId: string): Promise<number | undefined> {
    await this.init.shards.check();
    const pk = partitionOf(sessionId);
    const header = await this.init.loader.readHeader(pk);
    if (header?.record.incarnation !== incarnation) return undefined;
    return this.init.inbox.positionOf(pk, header, itemId);
  }

  async readArchive(
    sessionId: string,
    incarnation: string,
    archive: string,
    range: ItemRange,
  ): Promise<readonly StoredItem[]> {
    await this.init.shards.check();
    return this.init.archives.read(sessionId, incarnation, archive, range);
  }

  async compareAndSet(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<CompareAndSetResult> {
    const { loader, writes, removal, inbox, shards, hasBlobs } = this.init;
    await shards.check();
    const pk = partitionOf(sessionId);
    const known = before && (await loader.headerOf(pk, before));
    if (before && known === undefined) return 'outdated';
    if (known?.hasBlobs && !hasBlobs) throw blobsRequiredError(sessionId);
    if (after === undefined) return known && (await removal.deleteSession(pk, known)) ? 'done' : 'outdated';
    const { enqueue } = change;
    if (enqueue && known && (await inbox.positionOf(pk, known, enqueue.id)) !== undefined) return 'duplicate';
    return writes.write(pk, known, after, change);
  }

  async discard(sessionId: string): Promise<boolean> {
    await this.init.shards.check();
    return this.init.removal.discardSession(partitionOf(sessionId));
  }

  async isOwnedBy(sessionId: string, owner: string): Promise<boolean> {
    await this.init.shards.check();
    return this.init.index.isOwnedBy(sessionId, owner);
  }

  list(query: ResolvedSessionQuery, now: Instant): Promise<readonly (ListedSession | UnreadableEntry)[]> {
    return this.init.index.list(query, now);
  }

  due(query: ResolvedDueQuery, now: Instant): Promise<readonly (DueSession | UnreadableEntry)[]> {
    return this.init.index.due(query, now);
  }

  async announce(worker: SeenWorker, until: Instant): Promise<void> {
    await this.init.shards.check();
    await this.init.workers.announce(worker, until);
  }

  async workers(now: Instant): Promise<readonly SeenWorker[]> {
    await this.init.shards.check();
    return this.init.workers.list(now);
  }

  async prune(now: Instant, limit: number): Promise<number> {
    await this.init.mover.move(limit);
    await this.init.workers.prune(now);
    return this.init.sweeper.prune(now, limit);
  }

  async close(): Promise<void> {
    this.init.close();
  }
}
