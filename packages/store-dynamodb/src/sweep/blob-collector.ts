import { recordName } from '@holdfast/core/store';
import type { Instant } from '@holdfast/core';
import { blobNotePrefix } from '../blobs/blob-keys.ts';
import { isOldNote, ticketsIn, unusedBlobs } from '../blobs/blob-notes.ts';
import type { NotedBlobs } from '../blobs/noted-blobs.ts';
import { referencesInSession } from '../blobs/references.ts';
import { headerToItem, type IndexOptions } from '../header/header-item.ts';
import { nextFlips, type Header } from '../header/header.ts';
import type { SessionLoader } from '../session/session-loader.ts';
import { newUniqueText } from '../table/parts.ts';
import type { Table } from '../table/table.ts';

export interface BlobCollectorInit {
  readonly table: Table;
  readonly loader: SessionLoader;
  readonly blobs: NotedBlobs;
  readonly index: IndexOptions;
}

/** Deletes blobs that no session refers to and that their writers have not deleted. */
export class BlobCollector {
  private readonly init: BlobCollectorInit;

  constructor(init: BlobCollectorInit) {
    this.init = init;
  }

  /**
   * Deletes the unused blobs of old notes, and old tickets. Takes the other old notes out of the index `sweep`, so that
   * `prune` does not examine them again.
   */
  async collect(pk: string, now: Instant): Promise<void> {
    const unresolved = await this.init.loader.loadUnresolved(pk);
    if (unresolved === undefined) return;
    const { header, content, notes } = unresolved;
    const key = { pk, incarnation: header.record.incarnation };
    const inUse = referencesInSession(content);
    const old = notes.filter((note) => isOldNote(note, now));
    const unused = unusedBlobs(old, inUse, () => true);
    if (unused.length > 0 && !(await this.moveFence(header))) return;
    await this.init.blobs.delete(key, unused, ticketsIn(old));
    for (const { name, sweep } of old) {
      if (sweep === undefined || !inUse.has(name)) continue;
      const sk = blobNotePrefix(key.incarnation) + name;
      await this.init.table.changeAttribute({ pk, sk }, 'sweep', sweep, undefined);
    }
  }

  /**
   * Writes the header with another fence. Returns `false` if another writer has changed the session. From then on the
   * header refuses a writer that stalled after it staged items; that writer stages again.
   */
  private async moveFence(header: Header): Promise<boolean> {
    const { record } = header;
    const fence = newUniqueText();
    const next: Header = {
      ...header,
      fence,
      flips: nextFlips(header),
      record: { ...record, writes: record.writes + 1, token: fence },
    };
    const item = await headerToItem(next, this.init.index);
    return (await this.init.table.compareAndPut(item, recordName(record))).isDone;
  }
}
