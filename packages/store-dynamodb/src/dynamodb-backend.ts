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
import { isItemWaiting, recordName } from '@holdfast/core/store';
import { blobsNeeded } from './blobs.ts';
import type { BlobOwner } from './blobs.ts';
import { hasFlipped, toItem } from './header.ts';
import type { Header, IndexOptions } from './header.ts';
import type { Inbox } from './inbox.ts';
import type { Item } from './item-size.ts';
import { HEADER, isMarker, partitionOf } from './keys.ts';
import { keysOf } from './parts.ts';
import { MAX_VALUE_BYTES } from './plan-entries.ts';
import type { SessionBlobs } from './session-blobs.ts';
import { endOf } from './session-log.ts';
import type { SessionReader } from './session-reader.ts';
import { SessionIndex } from './session-index.ts';
import type { ShardMover } from './shard-mover.ts';
import type { Staged, Staging } from './staging.ts';
import { tidily } from './sweeper.ts';
import type { Sweeper } from './sweeper.ts';
import type { Table } from './table.ts';

/** What the backend is made of. */
export interface BackendParts {
  readonly table: Table;
  readonly reader: SessionReader;
  readonly staging: Staging;
  readonly inbox: Inbox;
  readonly sweeper: Sweeper;
  readonly mover: ShardMover;
  /** Where large values go; absent: nowhere. */
  readonly blobs: SessionBlobs | undefined;
}

/** Bytes of a header that the inbox leaves free: for who claims the session, and what the saves after it say. */
const ROOM_FOR_WORK = 8_192;

/** What is staged, and the tickets that say that something dies with it. */
interface Announced extends Staged {
  readonly tickets: readonly string[];
}

/**
 * Stages, then flips: what is new is written first, under names that nothing knows; then one conditional write of the
 * header, which names it, makes it true.
 */
export class DynamoDbBackend implements SessionBackend {
  readonly capabilities: StoreCapabilities;
  private readonly parts: BackendParts;
  private readonly index: SessionIndex;
  private readonly options: IndexOptions;

  constructor(parts: BackendParts, options: IndexOptions) {
    this.parts = parts;
    this.index = new SessionIndex(parts.table, options);
    this.options = options;
    this.capabilities = capabilitiesOf(parts.blobs !== undefined);
  }

  async read(sessionId: string): Promise<SessionRecord | undefined> {
    await this.options.shards.checked();
    return (await this.parts.reader.header(partitionOf(sessionId)))?.record;
  }

  async readAll(sessionId: string): Promise<StoredSession | undefined> {
    await this.options.shards.checked();
    return this.parts.reader.session(sessionId);
  }

  /** Items of an incarnation that is being deleted may be among them: the write for which they are read is refused. */
  async readInbox(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    await this.options.shards.checked();
    return this.parts.inbox.read(sessionId, incarnation, range);
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<SwapResult> {
    const { reader, staging, inbox, sweeper, blobs } = this.parts;
    await this.options.shards.checked();
    const { enqueue } = change;
    const pk = partitionOf(sessionId);
    const known = before && (await reader.headerOf(pk, before));
    if (before && known === undefined) return 'outdated';
    if (known?.hasBlobs && blobs === undefined) throw blobsNeeded(sessionId);
    if (after === undefined) return known && (await sweeper.retire(pk, known)) ? 'done' : 'outdated';
    if (enqueue && known && (await inbox.isDuplicate(pk, known, enqueue.id))) return 'duplicate';
    const staged = await staging.staged(pk, known, after, change);
    if (staged === undefined) return 'outdated';
    const item = await toItem(staged.header, this.options, enqueue ? ROOM_FOR_WORK : 0);
    const isReplaced = before !== undefined && before.incarnation !== after.incarnation;
    if (isReplaced) await sweeper.announce(pk, before.incarnation);
    const owner = { pk, incarnation: after.incarnation };
    const tickets = staged.dying.length > 0 && blobs ? [await blobs.announce(owner)] : [];
    await this.stage(owner, staged);
    const announced = { ...staged, tickets };
    const unstage = (): Promise<void> => this.unstage(owner, known, announced, change);
    if (!(await this.flip(item, before, after, unstage))) return 'outdated';
    reader.remembered(staged.header);
    await tidily(() => this.tidyUp(owner, known, announced, change));
    return 'done';
  }

  list(query: ResolvedSessionQuery, now: Instant): Promise<readonly ListedSession[]> {
    return this.index.list(query, now);
  }

  due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    return this.index.due(query, now);
  }

  async prune(now: Instant, limit: number): Promise<number> {
    await this.parts.mover.move(limit);
    return this.parts.sweeper.prune(now, limit);
  }

  async close(): Promise<void> {}

  /** Items first: when a blob is put, there is a note of it, or the marker of its inbox item. */
  private async stage(owner: BlobOwner, { items, blobs: added, item }: Staged): Promise<void> {
    const { table, blobs } = this.parts;
    const rows = [...items, ...(item?.items ?? [])];
    const large = [...added, ...(item?.blobs ?? [])];
    if (blobs === undefined || large.length === 0) {
      if (rows.length > 0) await table.putParts(rows);
      return;
    }
    await table.putParts([...(await blobs.notesOf(owner, added)), ...rows]);
    try {
      await blobs.put(owner, large);
    } catch (error) {
      // Those that failed may yet be carried out: their notes and markers stay.
      await tidily(() => table.deleteEach(keysOf(rows).filter(({ sk }) => !isMarker(sk))));
      const dying = large.map(({ ref }) => ({ ref, isSettled: false }));
      await tidily(() => blobs.discard(owner, dying));
      throw error;
    }
  }

  private async flip(
    item: Item,
    before: SessionRecord | undefined,
    after: SessionRecord,
    onRefusal: () => Promise<void>,
  ): Promise<boolean> {
    const { table } = this.parts;
    const { isDone, isDoubtful } = await table.flip(item, before && recordName(before));
    if (isDone) return true;
    if (isDoubtful) return hasFlipped(await table.get({ pk: item['pk']?.S ?? '', sk: HEADER }), after);
    await tidily(onRefusal);
    return false;
  }

  /**
   * Takes away what was staged for a header that was refused; unless the log is as it was, as after a renewal: then the
   * next turn finds it there. Else a save that takes longer than a heartbeat would never be done.
   */
  private async unstage(
    owner: BlobOwner,
    known: Header | undefined,
    staged: Announced,
    { plan, enqueue }: RecordChange,
  ): Promise<void> {
    const { table, reader, staging, blobs } = this.parts;
    const { own, tickets } = staged;
    if (own.keys.length + tickets.length === 0) return;
    const mayKeep = plan !== undefined && enqueue === undefined && known !== undefined;
    const isKept = mayKeep && staging.keep(plan, known, staged, await reader.header(owner.pk));
    const dying = isKept ? [] : own.refs.map((ref) => ({ ref, isSettled: true }));
    await blobs?.discard(owner, dying, tickets);
    if (!isKept) await table.deleteEach(own.keys);
  }

  private async tidyUp(
    { pk, incarnation }: BlobOwner,
    known: Header | undefined,
    { header, dying, tickets }: Announced,
    { acknowledge = [] }: RecordChange,
  ): Promise<void> {
    if (known === undefined) return;
    const { inbox, sweeper, blobs } = this.parts;
    if (known.record.incarnation !== incarnation) {
      await sweeper.clear(pk, known.record.incarnation);
      return;
    }
    const { segment } = endOf(header);
    if (endOf(known).segment !== segment) await sweeper.clearBefore(pk, incarnation, segment);
    const [before, after] = [known.record.inbox, header.record.inbox];
    const positions = acknowledge.map(({ position }) => position);
    const used = positions.filter((position) => before && isItemWaiting(before, position));
    if (after) await inbox.drop({ pk, incarnation }, used, after);
    await blobs?.discard({ pk, incarnation }, dying, tickets);
  }
}

function capabilitiesOf(hasBlobs: boolean): StoreCapabilities {
  return { listing: 'eventual', clock: 'client', maxValueBytes: hasBlobs ? undefined : MAX_VALUE_BYTES };
}
