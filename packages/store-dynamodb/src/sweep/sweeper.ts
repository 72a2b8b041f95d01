import type { Instant } from '@holdfast/core';
import { isExpired, isUnreadableError } from '@holdfast/core/store';
import { incarnationOfBlobNote, isBlobNote } from '../blobs/blob-keys.ts';
import { headerFromItem, incarnationOfHeader } from '../header/header-item.ts';
import type { Header } from '../header/header.ts';
import { incarnationOfMarker, isMarker } from '../inbox/inbox-keys.ts';
import type { InboxRemoval } from '../inbox/inbox-removal.ts';
import { incarnationOfEntry } from '../log/entry-keys.ts';
import {
  deletionNoteKey,
  incarnationOfDeletionNote,
  type IncarnationRemoval,
} from '../session/incarnation-removal.ts';
import { shardsOf } from '../shards/generation.ts';
import type { Shards } from '../shards/shards.ts';
import type { SweepMarks } from '../shards/sweep-marks.ts';
import { keyOf, type Item } from '../table/item.ts';
import { HEADER, instantKey, type ItemKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { BlobCollector } from './blob-collector.ts';

export interface SweeperInit {
  readonly table: Table;
  readonly inbox: InboxRemoval;
  readonly removal: IncarnationRemoval;
  readonly shards: Shards;
  readonly marks: SweepMarks;
  readonly collector: BlobCollector | undefined;
}

/** An item of the index `sweep`. */
interface SweptItem {
  readonly key: ItemKey;
  readonly incarnation: string;
  /** The value of the attribute `sweep`. */
  readonly sweep: string;
}

/** Removes expired sessions, and items that no header names because a process died. */
export class Sweeper {
  private readonly table: Table;
  private readonly inbox: InboxRemoval;
  private readonly removal: IncarnationRemoval;
  private readonly shards: Shards;
  private readonly marks: SweepMarks;
  private readonly collector: BlobCollector | undefined;

  constructor({ table, inbox, removal, shards, marks, collector }: SweeperInit) {
    this.table = table;
    this.inbox = inbox;
    this.removal = removal;
    this.shards = shards;
    this.marks = marks;
    this.collector = collector;
  }

  /** Sweeps the items whose time has come. Returns the number of expired sessions that it deleted, at most `limit`. */
  async prune(now: Instant, limit: number): Promise<number> {
    let pruned = 0;
    const collected = new Set<string>();
    for (const shard of (await this.shards.liveGenerations()).flatMap(shardsOf)) {
      for await (const items of this.table.indexPages('sweep', shard, { to: instantKey(now) })) {
        for (const item of items) {
          if (await falseIfUnreadable(this.sweepItem(item, now, collected))) pruned += 1;
          if (pruned === limit) return pruned;
        }
      }
    }
    return pruned;
  }

  /** Sweeps one item. Returns whether it deleted an expired session. */
  private async sweepItem(item: Item, now: Instant, collected: Set<string>): Promise<boolean> {
    const key = keyOf(item);
    const swept = { key, incarnation: incarnationOf(key.sk), sweep: item['sweep']?.S ?? '' };
    if (this.isSkipped(swept, collected)) return false;
    const header = await this.table.get({ pk: key.pk, sk: HEADER });
    if (key.sk === HEADER) return header !== undefined && this.sweepSession(key.pk, header, now);
    if (header === undefined || incarnationOfHeader(header) !== swept.incarnation) {
      await this.removal.deleteItems({ pk: key.pk, incarnation: swept.incarnation });
    } else await this.sweepLiveItem(swept, header, now);
    return false;
  }

  /**
   * Returns whether to skip an item, because only stores with blobs sweep it, or because the blobs of its incarnation
   * were collected in this call.
   */
  private isSkipped({ key, incarnation }: SweptItem, collected: Set<string>): boolean {
    if (isMarker(key.sk)) return this.collector === undefined;
    if (!isBlobNote(key.sk)) return false;
    const name = JSON.stringify([key.pk, incarnation]);
    if (this.collector === undefined || collected.has(name)) return true;
    collected.add(name);
    return false;
  }

  private async sweepSession(pk: string, item: Item, now: Instant): Promise<boolean> {
    const header = await headerFromItem(item);
    const { expiresAt } = header.record;
    if (isExpired(header.record, now)) return this.removal.deleteSession(pk, header);
    const to = expiresAt === undefined ? undefined : instantKey(expiresAt);
    await this.table.changeAttribute({ pk, sk: HEADER }, 'sweep', item['sweep']?.S ?? '', to);
    return false;
  }

  /** Sweeps an item of an incarnation that has a header. */
  private async sweepLiveItem(
    { key, incarnation, sweep }: SweptItem,
    header: Item,
    now: Instant,
  ): Promise<void> {
    if (isMarker(key.sk)) await this.sweepMarker(key, await headerFromItem(header), sweep, now);
    else if (isBlobNote(key.sk)) await this.collector?.collect(key.pk, now);
    else if (key.sk === deletionNoteKey(incarnation)) {
      await this.removal.deleteNote({ pk: key.pk, incarnation });
    } else await this.table.changeAttribute(key, 'sweep', sweep, undefined); // the first entry of a session
  }

  private async sweepMarker(key: ItemKey, header: Header, from: string, now: Instant): Promise<void> {
    if (await this.inbox.removeIfUsed(key, header)) return;
    const { sweep } = await this.marks(key.pk, now);
    await this.table.changeAttribute(key, 'sweep', from, sweep?.S);
  }
}

/** The incarnation in the sort key of an item of the index `sweep`; an empty text for a header. */
function incarnationOf(sk: string): string {
  if (isBlobNote(sk)) return incarnationOfBlobNote(sk);
  return incarnationOfDeletionNote(sk) ?? incarnationOfMarker(sk) ?? incarnationOfEntry(sk) ?? '';
}

/** Returns `false` for an unreadable item. The item stays, and the sweep continues with the next item. */
async function falseIfUnreadable(sweep: Promise<boolean>): Promise<boolean> {
  return sweep.catch((error: unknown) => {
    if (isUnreadableError(error)) return false;
    throw error;
  });
}
