import type {
  DueSession,
  Instant,
  RecordChange,
  ResolvedDueQuery,
  ResolvedSessionQuery,
  SessionBackend,
  SessionInfo,
  SessionRecord,
  StoreCapabilities,
  StoredSession,
} from '@holdfast/core';
import { blobsNeeded } from './blobs.ts';
import type { BlobOwner } from './blobs.ts';
import { flipsOf, revOf, toItem } from './header.ts';
import type { Header, IndexOptions } from './header.ts';
import type { Item } from './item-size.ts';
import { HEADER, inboxPrefix, partitionOf, partKeys } from './keys.ts';
import { keysOf } from './parts.ts';
import { MAX_VALUE_BYTES } from './plan-entries.ts';
import type { SessionBlobs } from './session-blobs.ts';
import { endOf } from './session-log.ts';
import type { SessionReader } from './session-reader.ts';
import { SessionIndex } from './session-index.ts';
import type { Staged, Staging } from './staging.ts';
import { tidily } from './sweeper.ts';
import type { Sweeper } from './sweeper.ts';
import type { Table } from './table.ts';

/** What the backend is made of. */
export interface BackendParts {
  readonly table: Table;
  readonly reader: SessionReader;
  readonly staging: Staging;
  readonly sweeper: Sweeper;
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
    return (await this.parts.reader.header(partitionOf(sessionId)))?.record;
  }

  readAll(sessionId: string): Promise<StoredSession | undefined> {
    return this.parts.reader.session(sessionId);
  }

  readItems(
    sessionId: string,
    incarnation: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    return this.parts.reader.inboxItems(sessionId, incarnation, ids);
  }

  async swap(
    sessionId: string,
    before: SessionRecord | undefined,
    after: SessionRecord | undefined,
    change: RecordChange,
  ): Promise<boolean> {
    const { reader, staging, sweeper, blobs } = this.parts;
    const pk = partitionOf(sessionId);
    const known = before && (await reader.headerOf(pk, before));
    if (before && known === undefined) return false;
    if (known?.hasBlobs && blobs === undefined) throw blobsNeeded(sessionId);
    if (after === undefined) return known !== undefined && sweeper.retire(pk, known);
    const staged = await staging.staged(pk, known, after, change);
    if (staged === undefined) return false;
    const item = await toItem(staged.header, this.options, change.enqueue ? ROOM_FOR_WORK : 0);
    const isReplaced = before !== undefined && before.incarnation !== after.incarnation;
    if (isReplaced) await sweeper.announce(pk, before.incarnation);
    const owner = { pk, incarnation: after.incarnation };
    const tickets = staged.dying.length > 0 && blobs ? [await blobs.announce(owner)] : [];
    await this.stage(owner, staged);
    const announced = { ...staged, tickets };
    const unstage = (): Promise<void> => this.unstage(owner, known, announced, change);
    if (!(await this.flip(item, before, unstage))) return false;
    reader.remembered(staged.header);
    await tidily(() => this.tidyUp(owner, known, announced));
    return true;
  }

  list(query: ResolvedSessionQuery, now: Instant): Promise<readonly SessionInfo[]> {
    return this.index.list(query, now);
  }

  due(query: ResolvedDueQuery, now: Instant): Promise<readonly DueSession[]> {
    return this.index.due(query, now);
  }

  prune(now: Instant, limit: number): Promise<number> {
    return this.parts.sweeper.prune(now, limit);
  }

  async close(): Promise<void> {}

  /** Items first: when a blob is put, there is a note of it. */
  private async stage(owner: BlobOwner, { items, blobs: added }: Staged): Promise<void> {
    const { table, blobs } = this.parts;
    if (blobs === undefined || added.length === 0) {
      if (items.length > 0) await table.putParts(items);
      return;
    }
    await table.putParts([...blobs.notesOf(owner, added), ...items]);
    try {
      await blobs.put(owner, added);
    } catch (error) {
      await tidily(() => table.deleteEach(keysOf(items)));
      // Those that failed may yet be carried out: the notes stay.
      const dying = added.map(({ ref }) => ({ ref, isSettled: false }));
      await tidily(() => blobs.discard(owner, dying));
      throw error;
    }
  }

  private async flip(
    item: Item,
    before: SessionRecord | undefined,
    onRefusal: () => Promise<void>,
  ): Promise<boolean> {
    const { table } = this.parts;
    const { isDone, isDoubtful } = await table.flip(item, before && revOf(before));
    if (isDone) return true;
    if (isDoubtful) {
      const there = await table.get({ pk: item['pk']?.S ?? '', sk: HEADER });
      return flipsOf(there).includes(flipsOf(item).at(-1) ?? '');
    }
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
    const mayKeep = plan !== undefined && enqueue === undefined && known !== undefined;
    const isKept = mayKeep && staging.keep(plan, known, staged, await reader.header(owner.pk));
    if (!isKept) await tidily(() => table.deleteEach(own.keys));
    const dying = isKept ? [] : own.refs.map((ref) => ({ ref, isSettled: true }));
    await blobs?.discard(owner, dying, tickets);
  }

  private async tidyUp(
    { pk, incarnation }: BlobOwner,
    known: Header | undefined,
    { header, dying, tickets }: Announced,
  ): Promise<void> {
    if (known === undefined) return;
    const { table, sweeper, blobs } = this.parts;
    if (known.record.incarnation !== incarnation) {
      await sweeper.clear(pk, known.record.incarnation);
      return;
    }
    const { segment } = endOf(header);
    if (endOf(known).segment !== segment) await sweeper.clearBefore(pk, incarnation, segment);
    const used = known.inbox.filter((name) => !header.inbox.includes(name));
    const keys = used.flatMap((name) => partKeys(inboxPrefix(incarnation), name));
    await table.deleteEach(keys.map((sk) => ({ pk, sk })));
    await blobs?.discard({ pk, incarnation }, dying, tickets);
  }
}

export function capabilitiesOf(hasBlobs: boolean): StoreCapabilities {
  return { listing: 'eventual', clock: 'client', maxValueBytes: hasBlobs ? undefined : MAX_VALUE_BYTES };
}
