import type { SessionRecord, StoredSession } from '@holdfast/core';
import { fromItem, revOf } from './header.ts';
import type { Header } from './header.ts';
import type { Item } from './item-size.ts';
import { HEADER, inboxPrefix, partitionOf, partKeys } from './keys.ts';
import { inboxNames, inboxOf, missingPart, storedBy } from './session-log.ts';
import type { Table } from './table.ts';

/** Another write comes between two reads of a session, but not as often as this. */
const MAX_READS = 10;

/** Reads sessions, and remembers the header of each record that it has read. */
export class SessionReader {
  private readonly table: Table;
  private readonly known = new WeakMap<SessionRecord, Header>();

  constructor(table: Table) {
    this.table = table;
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
    let last: string | undefined;
    for (let reads = 1; ; reads++) {
      const items = await this.itemsOf(partitionOf(sessionId));
      const item = items.get(HEADER);
      if (item === undefined) return undefined;
      const header = this.remembered(await fromItem(item));
      const stored = await storedBy(header, items);
      if (stored) return { record: header.record, ...stored };
      // Another writer has replaced the log meanwhile; unless the header is the same as before.
      const rev = revOf(header.record);
      if (rev === last || reads === MAX_READS) throw missingPart(header);
      last = rev;
    }
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
    return (await inboxOf(names, prefix, bySortKey(items))) ?? new Map();
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
