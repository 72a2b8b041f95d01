import { StateFormatError } from '@holdfast/core';
import { recordName } from '@holdfast/core/store';
import type { Archives } from '../archives/archives.ts';
import { blobNotePrefix } from '../blobs/blob-keys.ts';
import { blobsRequiredError } from '../blobs/blobs.ts';
import type { NotedBlobs } from '../blobs/noted-blobs.ts';
import { incarnationOfHeader } from '../header/header-item.ts';
import type { Header } from '../header/header.ts';
import type { InboxRemoval } from '../inbox/inbox-removal.ts';
import { logPrefix, segmentPrefix } from '../log/entry-keys.ts';
import type { SweepMarks } from '../shards/sweep-marks.ts';
import { HEADER, sessionIdOf, type IncarnationKey } from '../table/keys.ts';
import { ignoreOutage } from '../table/requests.ts';
import { LAST_KEY, type Table } from '../table/table.ts';

export interface IncarnationRemovalInit {
  readonly table: Table;
  readonly inbox: InboxRemoval;
  readonly archives: Archives;
  readonly marks: SweepMarks;
  readonly blobs: NotedBlobs | undefined;
}

/**
 * Deletes sessions, and the items of incarnations without a header. An incarnation that has lost its header never gets
 * a header again, so deleting its items harms no writer, however slow. The sweeper waits a day before it deletes the
 * items of an incarnation whose header may not be written yet.
 */
export class IncarnationRemoval {
  private readonly table: Table;
  private readonly inbox: InboxRemoval;
  private readonly archives: Archives;
  private readonly marks: SweepMarks;
  private readonly blobs: NotedBlobs | undefined;

  constructor({ table, inbox, archives, marks, blobs }: IncarnationRemovalInit) {
    this.table = table;
    this.inbox = inbox;
    this.archives = archives;
    this.marks = marks;
    this.blobs = blobs;
  }

  /**
   * Writes a note that an incarnation is about to lose its header. If this process dies, `prune` finds the items by the
   * note.
   */
  async writeNote({ pk, incarnation }: IncarnationKey): Promise<void> {
    // A store without blobs skips notes in `B#`. It processes notes in `G#`, and would delete such a note without the
    // blobs.
    const sk = this.blobs ? blobNotePrefix(incarnation) : deletionNoteKey(incarnation);
    await this.table.put({ pk: { S: pk }, sk: { S: sk }, ...(await this.marks(pk)) });
  }

  async deleteNote({ pk, incarnation }: IncarnationKey): Promise<void> {
    await this.table.deleteEach([{ pk, sk: deletionNoteKey(incarnation) }]);
  }

  /**
   * Deletes a session if `record` is still stored. The deletion of the header ends the session for readers; the items
   * follow. Returns `false` if another record is stored.
   * @throws StateFormatError `STATE_FORMAT` when the session has blobs and this store has no blob store
   */
  async deleteSession(pk: string, { record, hasBlobs }: Header): Promise<boolean> {
    if (hasBlobs && this.blobs === undefined) throw blobsRequiredError(record.info.sessionId);
    return this.deleteHeader({ pk, incarnation: record.incarnation }, recordName(record));
  }

  private async deleteHeader(key: IncarnationKey, rev: string): Promise<boolean> {
    await this.writeNote(key);
    const { isDone, isAmbiguous } = await this.table.compareAndDelete({ pk: key.pk, sk: HEADER }, rev);
    // If the header was not deleted, the note stays: another writer may rely on it. `prune` removes it later.
    if (!isDone && !(isAmbiguous && (await this.isWithoutHeader(key)))) return false;
    await ignoreOutage(() => this.deleteItems(key));
    return true;
  }

  /**
   * Deletes a session whose header is unreadable. Returns `false` if the session does not exist, or if another
   * header is stored.
   * @throws StateFormatError `STATE_FORMAT` for a header without a revision, and as `deleteSession` does
   */
  async discardSession(pk: string): Promise<boolean> {
    const item = await this.table.get({ pk, sk: HEADER });
    if (item === undefined) return false;
    const [rev, incarnation] = [item['rev']?.S, incarnationOfHeader(item)];
    const sessionId = sessionIdOf(item);
    if (rev === undefined || incarnation === undefined)
      throw new StateFormatError(`session ${JSON.stringify(sessionId)}`, 'a revision', 'none');
    const key = { pk, incarnation };
    // The header cannot tell whether the session has blobs. Their notes do.
    if (this.blobs === undefined && (await this.hasBlobNotes(key))) throw blobsRequiredError(sessionId);
    return this.deleteHeader(key, rev);
  }

  private async hasBlobNotes({ pk, incarnation }: IncarnationKey): Promise<boolean> {
    const from = blobNotePrefix(incarnation);
    for await (const items of this.table.itemPages(pk, { from, to: from + LAST_KEY }, { Limit: 1 }))
      if (items.length > 0) return true;
    return false;
  }

  /** Deletes all items and blobs of an incarnation without a header, and the notes about it. */
  async deleteItems(key: IncarnationKey): Promise<void> {
    const from = logPrefix(key.incarnation);
    await this.table.deleteRange(key.pk, { from, to: `${from}:` });
    await this.inbox.removeAll(key);
    await this.archives.removeAll(key);
    await this.blobs?.deleteAll(key);
    await this.deleteNote(key);
  }

  /** Deletes the segments of a log that are older than `segment`. */
  async deleteSegmentsBefore({ pk, incarnation }: IncarnationKey, segment: number): Promise<void> {
    await this.table.deleteRange(pk, {
      from: logPrefix(incarnation),
      to: segmentPrefix(incarnation, segment),
    });
  }

  private async isWithoutHeader({ pk, incarnation }: IncarnationKey): Promise<boolean> {
    return incarnationOfHeader(await this.table.get({ pk, sk: HEADER })) !== incarnation;
  }
}

/** The sort key of the note that an incarnation is about to lose its header, written by a store without blobs. */
export function deletionNoteKey(incarnation: string): string {
  return `G#${incarnation}`;
}

/** The incarnation in the sort key of a deletion note; `undefined` for another sort key. */
export function incarnationOfDeletionNote(sk: string): string | undefined {
  return sk.startsWith('G#') ? sk.slice(2) : undefined;
}
