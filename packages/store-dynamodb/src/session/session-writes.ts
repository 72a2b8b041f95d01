import {
  isItemWaiting,
  recordName,
  type RecordChange,
  type SessionRecord,
  type CompareAndSetResult,
} from '@holdfast/core/store';
import type { Archives } from '../archives/archives.ts';
import type { NotedBlobs } from '../blobs/noted-blobs.ts';
import { headerToItem, includesFlip, type IndexOptions } from '../header/header-item.ts';
import type { Header } from '../header/header.ts';
import { isMarker } from '../inbox/inbox-keys.ts';
import type { InboxRemoval } from '../inbox/inbox-removal.ts';
import { endOfLog } from '../log/session-log.ts';
import { keyOf, type Item } from '../table/item.ts';
import { HEADER, type IncarnationKey } from '../table/keys.ts';
import { ignoreOutage } from '../table/requests.ts';
import type { Table } from '../table/table.ts';
import type { IncarnationRemoval } from './incarnation-removal.ts';
import type { SessionLoader } from './session-loader.ts';
import type { StagedWrite, Staging } from './staging.ts';

export interface SessionWritesInit {
  readonly table: Table;
  readonly loader: SessionLoader;
  readonly staging: Staging;
  readonly inbox: InboxRemoval;
  readonly archives: Archives;
  readonly removal: IncarnationRemoval;
  /** Where large values are stored. If it is absent, they are in the table. */
  readonly blobs: NotedBlobs | undefined;
  readonly index: IndexOptions;
}

/** The bytes that an enqueue leaves free in the header, for a claim of the session and the saves under it. */
const ROOM_FOR_WORK = 8_192;

/** A write, from its staging to its cleanup. */
interface PendingWrite extends StagedWrite {
  readonly key: IncarnationKey;
  /** The header that the writer read; `undefined` for a creation. */
  readonly known: Header | undefined;
  readonly change: RecordChange;
  /** The names of the tickets for blobs that become unused. */
  readonly tickets: readonly string[];
}

/**
 * Writes sessions in two phases. First it stages new items, to which no header refers. Then it flips: one conditional
 * put writes a header that names them, which makes the write take effect. `PROTOCOL.md` has a diagram.
 */
export class SessionWrites {
  private readonly init: SessionWritesInit;

  constructor(init: SessionWritesInit) {
    this.init = init;
  }

  /**
   * Replaces the record of a header together with the rest of the change. Creates a session when `known` is
   * `undefined`.
   */
  async write(
    pk: string,
    known: Header | undefined,
    after: SessionRecord,
    change: RecordChange,
  ): Promise<CompareAndSetResult> {
    const staged = await this.init.staging.prepare(pk, known, after, change);
    if (staged === undefined) return 'outdated';
    const item = await headerToItem(staged.header, this.init.index, change.enqueue ? ROOM_FOR_WORK : 0);
    const key = { pk, incarnation: after.incarnation };
    const write = { ...staged, key, known, change, tickets: await this.writeNotes(key, known, staged) };
    await this.stage(write);
    const flip = await this.flip(item, write);
    if (flip === 'refused') await ignoreOutage(() => this.unstage(write));
    if (flip !== 'done') return 'outdated';
    this.init.loader.remember(staged.header);
    await ignoreOutage(() => this.cleanUp(write));
    return 'done';
  }

  /**
   * Writes notes about the items that the flip makes unused: the previous incarnation, and blobs. Returns the names of
   * the tickets.
   */
  private async writeNotes(
    key: IncarnationKey,
    known: Header | undefined,
    { unused }: StagedWrite,
  ): Promise<string[]> {
    const { removal, blobs } = this.init;
    const before = known?.record.incarnation ?? key.incarnation;
    if (before !== key.incarnation) await removal.writeNote({ pk: key.pk, incarnation: before });
    return unused.length > 0 && blobs ? [await blobs.writeTicket(key)] : [];
  }

  /** Writes items before blobs, so that each blob has a note, or a marker that names it. */
  private async stage({ key, items, blobs: logBlobs, item }: PendingWrite): Promise<void> {
    const { table, blobs } = this.init;
    const rows = [...items, ...(item?.items ?? [])];
    const newBlobs = [...logBlobs, ...(item?.blobs ?? [])];
    if (blobs === undefined || newBlobs.length === 0) {
      if (rows.length > 0) await table.putEach(rows);
      return;
    }
    await table.putEach([...(await blobs.notesFor(key, logBlobs)), ...rows]);
    try {
      await blobs.put(key, newBlobs);
    } catch (error) {
      // A put that failed may still complete, so the notes and the markers stay.
      await ignoreOutage(() => table.deleteEach(rows.map(keyOf).filter(({ sk }) => !isMarker(sk))));
      const unused = newBlobs.map(({ reference }) => ({ reference, isSettled: false }));
      await ignoreOutage(() => blobs.delete(key, unused));
      throw error;
    }
  }

  /**
   * Writes the header. Returns `unknown` if the stored header is another one, but an attempt without a reply may have
   * written this header before.
   */
  private async flip(
    item: Item,
    { key, known, header }: PendingWrite,
  ): Promise<'done' | 'refused' | 'unknown'> {
    const { table } = this.init;
    const { isDone, isAmbiguous } = await table.compareAndPut(item, known && recordName(known.record));
    if (isDone) return 'done';
    if (!isAmbiguous) return 'refused';
    const present = await table.get({ pk: key.pk, sk: HEADER });
    return (await includesFlip(present, header.record)) ? 'done' : 'unknown';
  }

  /**
   * Deletes the items that were staged for a refused header. If the log is unchanged, for example after a renewal, the
   * items stay and the next attempt uses them. Otherwise a save that takes longer than a heartbeat would never succeed.
   */
  private async unstage(write: PendingWrite): Promise<void> {
    const { table, blobs } = this.init;
    const { key, own, tickets } = write;
    if (own.keys.length + tickets.length === 0) return;
    const isReused = await this.rememberAttempt(write);
    const unused = isReused ? [] : own.references.map((reference) => ({ reference, isSettled: true }));
    await blobs?.delete(key, unused, tickets);
    if (!isReused) await table.deleteEach(own.keys);
  }

  private async rememberAttempt(write: PendingWrite): Promise<boolean> {
    const { plan, enqueue } = write.change;
    if (plan === undefined || enqueue !== undefined || write.known === undefined) return false;
    const present = await this.init.loader.readHeader(write.key.pk);
    return this.init.staging.rememberAttempt(plan, write.known, write, present);
  }

  /** Deletes the items that the flip made unused: an incarnation, segments, inbox items, archive entries, blobs. */
  private async cleanUp({ key, known, header, unused, tickets, change }: PendingWrite): Promise<void> {
    if (known === undefined) return;
    const { inbox, archives, removal, blobs } = this.init;
    if (known.record.incarnation !== key.incarnation) {
      await removal.deleteItems({ pk: key.pk, incarnation: known.record.incarnation });
      return;
    }
    const { segment } = endOfLog(header);
    if (endOfLog(known).segment !== segment) await removal.deleteSegmentsBefore(key, segment);
    const [before, after] = [known.record.inbox, header.record.inbox];
    const positions = (change.acknowledge ?? []).map(({ position }) => position);
    const used = positions.filter((position) => before && isItemWaiting(before, position));
    if (after) await inbox.removeUsed(key, used, after);
    await archives.removeEntries(key, change.archives ?? []);
    await blobs?.delete(key, unused, tickets);
  }
}
