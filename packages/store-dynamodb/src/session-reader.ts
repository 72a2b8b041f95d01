import { StateFormatError } from '@holdfast/core';
import { recordName } from '@holdfast/core/store';
import type { SavedSession, SessionRecord, StoredSession } from '@holdfast/core/store';
import { notesIn } from './blob-notes.ts';
import type { BlobNote } from './blob-notes.ts';
import { blobsNeeded, missingBlob } from './blobs.ts';
import type { Blobs } from './blobs.ts';
import { fromItem } from './header.ts';
import type { Header } from './header.ts';
import type { Item } from './item-size.ts';
import { HEADER, LOG_END, partitionOf } from './keys.ts';
import { filled, referencesOf } from './large-values.ts';
import { missingPart, storedBy } from './session-log.ts';
import type { Table } from './table.ts';

/** Another write comes between two reads of a session, but not as often as this. */
const MAX_READS = 10;

/** A session as it is in the table. */
export interface KeptSession {
  readonly header: Header;
  /** References in the place of large values. */
  readonly saved: SavedSession;
  /** Of all blobs of the incarnation, those too that it does not refer to. */
  readonly notes: readonly BlobNote[];
}

/** Reads sessions, and remembers the header of each record that it has read. */
export class SessionReader {
  private readonly table: Table;
  private readonly blobs: Blobs | undefined;
  private readonly known = new WeakMap<SessionRecord, Header>();

  constructor(table: Table, blobs: Blobs | undefined) {
    this.table = table;
    this.blobs = blobs;
  }

  async header(pk: string): Promise<Header | undefined> {
    const item = await this.table.get({ pk, sk: HEADER });
    return item && this.remembered(await fromItem(item));
  }

  /** The header of a record; `undefined` when another one is there now, if it had to be asked for. */
  async headerOf(pk: string, record: SessionRecord): Promise<Header | undefined> {
    const known = this.known.get(record);
    if (known) return known;
    const header = await this.header(pk);
    return header && recordName(header.record) === recordName(record) ? header : undefined;
  }

  /** Keeps in mind the header that a record was written with. */
  remembered(header: Header): Header {
    this.known.set(header.record, header);
    return header;
  }

  async session(sessionId: string): Promise<StoredSession | undefined> {
    const texts = new Map<string, string>();
    return this.settled(partitionOf(sessionId), async (header, items) => {
      const kept = await storedBy(header, items);
      const saved = kept ? await this.withBlobs(header, kept, texts) : missingPart(header);
      return saved instanceof StateFormatError ? saved : { record: header.record, saved };
    });
  }

  /** A session as it is in the table, with references in the place of large values. */
  async kept(pk: string): Promise<KeptSession | undefined> {
    return this.settled(pk, async (header, items) => {
      const saved = await storedBy(header, items);
      return saved ? { header, saved, notes: notesIn(items, header) } : missingPart(header);
    });
  }

  /** What is kept, with the values that are blobs; an error when one is missing. */
  private async withBlobs(
    { record, hasBlobs }: Header,
    kept: SavedSession,
    texts: Map<string, string>,
  ): Promise<SavedSession | StateFormatError> {
    if (!hasBlobs) return kept;
    const { info, incarnation } = record;
    if (this.blobs === undefined) throw blobsNeeded(info.sessionId);
    const refs = referencesOf(kept);
    await this.blobs.read({ sessionId: info.sessionId, incarnation }, refs, texts);
    for (const ref of refs) if (!texts.has(ref)) return missingBlob(record, ref);
    return filled(kept, texts);
  }

  /**
   * Reads a session without its inbox, until nobody comes between that takes some of them away: an error that `use` answers
   * is thrown when the same record is still there.
   */
  private async settled<T>(
    pk: string,
    use: (header: Header, items: ReadonlyMap<string, Item>) => Promise<T | StateFormatError>,
  ): Promise<T | undefined> {
    let last: string | undefined;
    for (let reads = 1; ; reads++) {
      const items = await this.itemsOf(pk);
      const item = items.get(HEADER);
      if (item === undefined) return undefined;
      const header = this.remembered(await fromItem(item));
      const used = await use(header, items);
      if (!(used instanceof StateFormatError)) return used;
      const rev = recordName(header.record);
      if (rev === last || reads === MAX_READS) throw used;
      last = rev;
    }
  }

  private async itemsOf(pk: string): Promise<ReadonlyMap<string, Item>> {
    const items = new Map<string, Item>();
    const pages = this.table.pages({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :header AND :end',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':header': { S: HEADER }, ':end': { S: LOG_END } },
      ConsistentRead: true,
    });
    for await (const page of pages) {
      for (const [sk, item] of bySortKey(page)) items.set(sk, item);
      if (!items.has(HEADER)) break;
    }
    return items;
  }
}

function bySortKey(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item['sk']?.S ?? '', item]));
}
