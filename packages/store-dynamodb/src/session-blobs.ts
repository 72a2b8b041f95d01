import { randomBytes } from 'node:crypto';
import { recordName } from '@holdfast/core/store';
import type { Clock, Instant } from '@holdfast/core';
import { dyingBlobs, isOld } from './blob-notes.ts';
import type { BlobNote, DyingBlob } from './blob-notes.ts';
import type { BlobOwner, Blobs } from './blobs.ts';
import { flipsAfter, toItem } from './header.ts';
import type { Header, IndexOptions } from './header.ts';
import type { Item } from './item-size.ts';
import { blobPrefix } from './keys.ts';
import { isReference, referencesOf } from './large-values.ts';
import type { NewBlob } from './large-values.ts';
import { newPartId } from './parts.ts';
import type { SessionReader } from './session-reader.ts';
import type { SweepMarks } from './sweep-marks.ts';
import type { Table } from './table.ts';

export interface SessionBlobsInit {
  readonly table: Table;
  readonly reader: SessionReader;
  readonly blobs: Blobs;
  readonly marks: SweepMarks;
  readonly clock: Clock;
  readonly index: IndexOptions;
}

/**
 * Puts blobs and deletes them, so that each that there may be has a note in the table. A blob has one writer and one
 * name that is never used again: once a header does not refer to it, none will.
 */
export class SessionBlobs {
  private readonly table: Table;
  private readonly reader: SessionReader;
  private readonly blobs: Blobs;
  private readonly marks: SweepMarks;
  private readonly clock: Clock;
  private readonly index: IndexOptions;

  constructor({ table, reader, blobs, marks, clock, index }: SessionBlobsInit) {
    this.table = table;
    this.reader = reader;
    this.blobs = blobs;
    this.marks = marks;
    this.clock = clock;
    this.index = index;
  }

  /** The notes of blobs, which must be there before these are put. */
  async notesOf(owner: BlobOwner, blobs: readonly NewBlob[]): Promise<Item[]> {
    return Promise.all(blobs.map(({ ref }) => this.note(owner, ref)));
  }

  /** @throws StoreUnavailableError */
  async put(owner: BlobOwner, blobs: readonly NewBlob[]): Promise<void> {
    await this.blobs.put(owner, blobs);
  }

  /** Notes that blobs are about to lose their header, so that they are found if this process dies. The ticket's name. */
  async announce(owner: BlobOwner): Promise<string> {
    const ticket = randomBytes(8).toString('hex');
    await this.table.put(await this.note(owner, ticket));
    return ticket;
  }

  /** Deletes blobs that no header refers to, then their notes and tickets. */
  async discard(
    owner: BlobOwner,
    dying: readonly DyingBlob[],
    tickets: readonly string[] = [],
  ): Promise<void> {
    await this.blobs.delete(
      owner,
      dying.map(({ ref }) => ref),
    );
    const settled = dying.filter(({ isSettled }) => isSettled).map(({ ref }) => ref);
    const prefix = blobPrefix(owner.incarnation);
    await this.table.deleteEach(
      [...settled, ...tickets].map((name) => ({ pk: owner.pk, sk: prefix + name })),
    );
  }

  /** Deletes the blobs of an incarnation whose header is gone. The notes of the last day stay until `prune`. */
  async clear(owner: BlobOwner): Promise<void> {
    const notes = await this.notes(owner);
    const now = this.clock.now();
    const dying = dyingBlobs(notes, new Set(), (note) => isOld(note, now));
    await this.discard(owner, dying, ticketsIn(notes));
  }

  /** Deletes the old blobs of a session that it does not refer to, and looks no more at those that it does. */
  async collect(pk: string, now: Instant): Promise<void> {
    const kept = await this.reader.kept(pk);
    if (kept === undefined) return;
    const { header, saved, notes } = kept;
    const owner = { pk, incarnation: header.record.incarnation };
    const live = referencesOf(saved);
    const old = notes.filter((note) => isOld(note, now));
    const dying = dyingBlobs(old, live, () => true);
    if (dying.length > 0 && !(await this.fence(header))) return;
    await this.discard(owner, dying, ticketsIn(old));
    for (const { name, sweep } of old) {
      if (sweep === undefined || !live.has(name)) continue;
      await this.table.change({ pk, sk: blobPrefix(owner.incarnation) + name }, 'sweep', sweep, undefined);
    }
  }

  /** Counts as a write, so that whoever has staged something and was held up, for however long, does it again. */
  private async fence(header: Header): Promise<boolean> {
    const { record } = header;
    const fence = newPartId();
    const next: Header = {
      ...header,
      fence,
      flips: flipsAfter(header),
      record: { ...record, writes: record.writes + 1, token: fence },
    };
    const { isDone } = await this.table.flip(await toItem(next, this.index), recordName(record));
    return isDone;
  }

  private async note({ pk, incarnation }: BlobOwner, name: string): Promise<Item> {
    return { pk: { S: pk }, sk: { S: blobPrefix(incarnation) + name }, ...(await this.marks(pk)) };
  }

  private async notes({ pk, incarnation }: BlobOwner): Promise<BlobNote[]> {
    const prefix = blobPrefix(incarnation);
    const notes: BlobNote[] = [];
    const pages = this.table.pages({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':from': { S: prefix }, ':to': { S: `${prefix}~` } },
      ConsistentRead: true,
    });
    for await (const items of pages) {
      notes.push(
        ...items.map(({ sk, sweep }) => ({ name: sk?.S?.slice(prefix.length) ?? '', sweep: sweep?.S })),
      );
    }
    return notes;
  }
}

function ticketsIn(notes: readonly BlobNote[]): string[] {
  return notes.map(({ name }) => name).filter((name) => !isReference(name) && !name.includes('#'));
}
