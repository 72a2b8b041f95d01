import { StateFormatError } from '@holdfast/core';
import type { SavedSession, SessionRecord, StoredSession } from '@holdfast/core';
import { notesIn } from './blob-notes.ts';
import type { BlobNote } from './blob-notes.ts';
import { blobsNeeded, missingBlob } from './blobs.ts';
import type { Blobs } from './blobs.ts';
import { fromItem, revOf } from './header.ts';
import type { Header } from './header.ts';
import type { Item } from './item-size.ts';
import { HEADER, inboxPrefix, partitionOf, partKeys } from './keys.ts';
import { filled, referencesIn, textsOf } from './large-values.ts';
import type { KeptContent } from './large-values.ts';
import { inboxNames, inboxOf, missingPart, storedBy } from './session-log.ts';
import type { Table } from './table.ts';

/** Another write comes between two reads of a session, but not as often as this. */
const MAX_READS = 10;
const NOTHING_SAVED: SavedSession = { head: '', values: new Map(), lists: new Map() };

/** A session as it is in the table. */
export interface KeptSession {
  readonly header: Header;
  /** References in the place of large values. */
  readonly content: KeptContent;
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
    return header && revOf(header.record) === revOf(record) ? header : undefined;
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
      const whole = kept ? await this.withBlobs(header, kept, texts) : missingPart(header);
      return whole instanceof StateFormatError ? whole : { record: header.record, ...whole };
    });
  }

  /** A session as it is in the table, with references in the place of large values. */
  async kept(pk: string): Promise<KeptSession | undefined> {
    return this.settled(pk, async (header, items) => {
      const content = await storedBy(header, items);
      return content ? { header, content, notes: notesIn(items, header) } : missingPart(header);
    });
  }

  async inboxItems(
    sessionId: string,
    incarnation: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const pk = partitionOf(sessionId);
    const header = await this.header(pk);
    if (header?.record.incarnation !== incarnation) return new Map();
    const prefix = inboxPrefix(incarnation);
    const names = new Map([...inboxNames(header)].filter(([id]) => ids.includes(id)));
    const keys = [...names.values()].flatMap((name) => partKeys(prefix, name));
    const items = await this.table.getEach(keys.map((sk) => ({ pk, sk })));
    // One that is missing was used since: then the write that asks for it comes too late, and is repeated.
    const inbox = await inboxOf(header, names, bySortKey(items));
    if (inbox === undefined) return new Map();
    const whole = await this.withBlobs(header, { saved: NOTHING_SAVED, inbox }, new Map());
    return whole instanceof StateFormatError ? new Map() : whole.inbox;
  }

  /** What is kept, with the values that are blobs; an error when one is missing. */
  private async withBlobs(
    { record, hasBlobs }: Header,
    kept: KeptContent,
    texts: Map<string, string>,
  ): Promise<KeptContent | StateFormatError> {
    if (!hasBlobs) return kept;
    if (this.blobs === undefined) throw blobsNeeded(record.info.sessionId);
    const refs = referencesIn(textsOf(kept));
    await this.blobs.read(record, refs, texts);
    for (const ref of refs) if (!texts.has(ref)) return missingBlob(record, ref);
    return filled(kept, texts);
  }

  /**
   * Reads all items of a session, until nobody comes between that takes some of them away: an error that `use` answers
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
      const rev = revOf(header.record);
      if (rev === last || reads === MAX_READS) throw used;
      last = rev;
    }
  }

  private async itemsOf(pk: string): Promise<ReadonlyMap<string, Item>> {
    const items = new Map<string, Item>();
    const pages = this.table.pages({
      KeyConditionExpression: 'pk = :pk AND sk >= :header',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':header': { S: HEADER } },
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
