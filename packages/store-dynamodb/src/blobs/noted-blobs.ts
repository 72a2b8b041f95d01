import { randomBytes } from 'node:crypto';
import type { Clock } from '@holdfast/core';
import type { SweepMarks } from '../shards/sweep-marks.ts';
import type { Item } from '../table/item.ts';
import type { IncarnationKey } from '../table/keys.ts';
import { LAST_KEY, type Table } from '../table/table.ts';
import { blobNotePrefix } from './blob-keys.ts';
import { isOldNote, notesIn, ticketsIn, unusedBlobs, type BlobNote, type UnusedBlob } from './blob-notes.ts';
import type { Blobs } from './blobs.ts';
import type { NewBlob } from './references.ts';

export interface NotedBlobsInit {
  readonly table: Table;
  readonly blobs: Blobs;
  readonly marks: SweepMarks;
  readonly clock: Clock;
}

/**
 * Puts and deletes the blobs of logs, so that each blob that may exist has a note in the table. Each blob has one
 * writer and a name that is never used again. Once the session's header no longer refers to a blob, no later header
 * will.
 */
export class NotedBlobs {
  private readonly table: Table;
  private readonly blobs: Blobs;
  private readonly marks: SweepMarks;
  private readonly clock: Clock;

  constructor({ table, blobs, marks, clock }: NotedBlobsInit) {
    this.table = table;
    this.blobs = blobs;
    this.marks = marks;
    this.clock = clock;
  }

  /** Returns the notes of blobs. The caller must write them before it puts the blobs. */
  async notesFor(key: IncarnationKey, blobs: readonly NewBlob[]): Promise<Item[]> {
    return Promise.all(blobs.map(({ reference }) => this.noteItem(key, reference)));
  }

  /**
   * Puts blobs.
   * @throws StoreUnavailableError `STORE_UNAVAILABLE` when a put failed
   */
  async put(key: IncarnationKey, blobs: readonly NewBlob[]): Promise<void> {
    await this.blobs.put(key, blobs);
  }

  /**
   * Writes a ticket and returns its name. The caller writes it before blobs become unused, so that `prune` finds these
   * blobs if the process dies.
   */
  async writeTicket(key: IncarnationKey): Promise<string> {
    const name = randomBytes(8).toString('hex');
    await this.table.put(await this.noteItem(key, name));
    return name;
  }

  /** Deletes unused blobs, then the notes of settled blobs, and the tickets. */
  async delete(
    key: IncarnationKey,
    unused: readonly UnusedBlob[],
    tickets: readonly string[] = [],
  ): Promise<void> {
    await this.blobs.delete(
      key,
      unused.map(({ reference }) => reference),
    );
    const settled = unused.filter(({ isSettled }) => isSettled).map(({ reference }) => reference);
    const prefix = blobNotePrefix(key.incarnation);
    await this.table.deleteEach([...settled, ...tickets].map((name) => ({ pk: key.pk, sk: prefix + name })));
  }

  /** Deletes the blobs of an incarnation without a header. Notes that are less than a day old stay for `prune`. */
  async deleteAll(key: IncarnationKey): Promise<void> {
    const notes = await this.readNotes(key);
    const now = this.clock.now();
    const unused = unusedBlobs(notes, new Set(), (note) => isOldNote(note, now));
    await this.delete(key, unused, ticketsIn(notes));
  }

  private async readNotes({ pk, incarnation }: IncarnationKey): Promise<BlobNote[]> {
    const from = blobNotePrefix(incarnation);
    const notes: BlobNote[] = [];
    for await (const items of this.table.itemPages(pk, { from, to: from + LAST_KEY })) {
      notes.push(...notesIn(items, incarnation));
    }
    return notes;
  }

  private async noteItem({ pk, incarnation }: IncarnationKey, name: string): Promise<Item> {
    return { pk: { S: pk }, sk: { S: blobNotePrefix(incarnation) + name }, ...(await this.marks(pk)) };
  }
}
