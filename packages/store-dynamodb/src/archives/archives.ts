import type { ArchiveChange, ItemRange, StoredItem } from '@holdfast/core/store';
import type { Header } from '../header/header.ts';
import { checkTextSize } from '../log/plan-entries.ts';
import type { Item } from '../table/item.ts';
import { partitionOf, type IncarnationKey } from '../table/keys.ts';
import { joinParts, newUniqueText, toParts } from '../table/parts.ts';
import { fromPayload } from '../table/payload.ts';
import { LAST_KEY, type Table } from '../table/table.ts';
import {
  archiveEntryName,
  archivePrefix,
  archivesPrefix,
  entryNameIn,
  entryPrefix,
  type ArchiveEntryName,
  type ArchiveKey,
} from './archive-keys.ts';

export interface ArchivesInit {
  readonly table: Table;
  readonly readHeader: (pk: string) => Promise<Header | undefined>;
}

/** The rows to write for archive entries, before the header that accepts them. */
export interface StagedEntries extends Pick<Header, 'archives'> {
  readonly items: readonly Item[];
}

/** The rows of a range of positions. */
interface ArchiveRows {
  /** The names of the entries at each position: the accepted one, and those of writers that died before their flip. */
  readonly names: Map<number, Map<string, ArchiveEntryName>>;
  readonly items: Map<string, Item>;
  /** The unique parts of the names that rows name as accepted. */
  readonly accepted: Set<string>;
}

/** Removed entries are deleted when their positions pass a multiple of this number, in one request. */
const REMOVED_AT_ONCE = 25;

/**
 * The archives of sessions. An entry consists of one or more rows.
 *
 * A writer stages the rows under a unique name. The header accepts the entries of a save when it names them as the last
 * ones of their archive. A position can have rows of several writers; the header accepted one of them. Each row also
 * names the entries that were accepted last before it, as its writer read them in the header. So an entry was accepted
 * if the header or any row of its archive names it, whether or not that row was accepted.
 */
export class Archives {
  private readonly table: Table;
  private readonly readHeader: ArchivesInit['readHeader'];

  constructor({ table, readHeader }: ArchivesInit) {
    this.table = table;
    this.readHeader = readHeader;
  }

  /**
   * Returns the rows to write for new entries, and the names by which the header accepts them.
   * @throws SessionTooLargeError `SESSION_TOO_LARGE` for an entry of more than `MAX_VALUE_BYTES`
   */
  async stage(
    key: IncarnationKey & { readonly sessionId: string },
    changes: readonly ArchiveChange[],
    before: Header['archives'] = {},
  ): Promise<StagedEntries> {
    const unique = newUniqueText();
    const items: Item[] = [];
    let archives = before;
    for (const { archive, put } of changes) {
      for (const entry of put) {
        checkTextSize(key.sessionId, entry.json);
        items.push(...(await toRows({ ...key, archive }, entry, unique, before[archive])));
      }
      if (put.length > 0) archives = { ...archives, [archive]: unique };
    }
    return { items, archives };
  }

  /**
   * Reads entries by position. The caller asks only for positions at which an entry was accepted.
   * @throws StateFormatError `STATE_FORMAT` when the rows of an entry are damaged
   */
  async read(
    sessionId: string,
    incarnation: string,
    archive: string,
    range: ItemRange,
  ): Promise<readonly StoredItem[]> {
    const key = { pk: partitionOf(sessionId), incarnation, archive };
    const rows = await this.readRows(key, range);
    if (rows.names.size === 0) return [];
    // A deletion removes the header before the rows. So the rows are complete if the header exists after they were read.
    const header = await this.readHeader(key.pk);
    if (header?.record.incarnation !== incarnation) return [];
    const last = header.archives[archive];
    if (last !== undefined) rows.accepted.add(last);
    const entries: StoredItem[] = [];
    for (const names of [...rows.names.values()].slice(0, range.limit)) {
      const name = await this.acceptedName(key, names, rows.accepted);
      if (name) entries.push(await readEntry(key, name, rows.items, sessionId));
    }
    return entries;
  }

  /**
   * Deletes removed entries, with the rows of other writers and the remaining rows of lower positions. A save that puts
   * entries too deletes only from time to time.
   */
  async removeEntries(key: IncarnationKey, changes: readonly ArchiveChange[]): Promise<void> {
    for (const { archive, put, remove } of changes) {
      if (remove === undefined || !(put.length === 0 || isBatchFull(remove))) continue;
      const archiveKey = { ...key, archive };
      const range = { from: archivePrefix(archiveKey), to: entryPrefix(archiveKey, remove.to) };
      await this.table.deleteRange(key.pk, range);
    }
  }

  /** Removes the archives of an incarnation without a header. */
  async removeAll({ pk, incarnation }: IncarnationKey): Promise<void> {
    const from = archivesPrefix(incarnation);
    await this.table.deleteRange(pk, { from, to: from + LAST_KEY });
  }

  private async readRows(key: ArchiveKey, { from, to, limit }: ItemRange): Promise<ArchiveRows> {
    const rows: ArchiveRows = { names: new Map(), items: new Map(), accepted: new Set() };
    const range = { from: entryPrefix(key, from), to: entryPrefix(key, to) };
    // One row more than the limit: a position is complete only when the next position begins.
    for await (const items of this.table.itemPages(key.pk, range, { Limit: limit + 1 })) {
      for (const item of items) addRow(rows, key, item);
      if (rows.names.size > limit) break;
    }
    return rows;
  }

  /** Of the names at one position, the accepted one. */
  private async acceptedName(
    key: ArchiveKey,
    names: ReadonlyMap<string, ArchiveEntryName>,
    accepted: ReadonlySet<string>,
  ): Promise<ArchiveEntryName | undefined> {
    const [first] = names.values();
    if (first === undefined || names.size === 1) return first;
    const known = [...names.values()].find(({ unique }) => accepted.has(unique));
    return known ?? this.findAccepted(key, names, first.position);
  }

  /** Searches the rows behind a position for one that names an entry at the position. It is usually the next row. */
  private async findAccepted(
    key: ArchiveKey,
    names: ReadonlyMap<string, ArchiveEntryName>,
    position: number,
  ): Promise<ArchiveEntryName | undefined> {
    const range = { from: entryPrefix(key, position + 1), to: archivePrefix(key) + LAST_KEY };
    const options = { ProjectionExpression: 'sk, prev', Limit: REMOVED_AT_ONCE };
    for await (const items of this.table.itemPages(key.pk, range, options)) {
      const found = items.find(({ prev }) => names.has(prev?.S ?? ''));
      if (found) return names.get(found['prev']?.S ?? '');
    }
    return undefined;
  }
}

async function toRows(
  { pk, ...key }: ArchiveKey,
  { position, json }: StoredItem,
  unique: string,
  previous: string | undefined,
): Promise<readonly Item[]> {
  const { items } = await toParts({
    pk,
    prefix: archivePrefix(key),
    nameOf: (parts) => archiveEntryName({ position, unique, parts }),
    text: json,
    attributes: previous === undefined ? {} : { prev: { S: previous } },
  });
  return items;
}

function addRow({ names, items, accepted }: ArchiveRows, key: ArchiveKey, item: Item): void {
  const sk = item['sk']?.S ?? '';
  const name = entryNameIn(archivePrefix(key), sk);
  if (name === undefined) return;
  const there = names.get(name.position) ?? new Map<string, ArchiveEntryName>();
  names.set(name.position, there.set(name.unique, name));
  items.set(sk, item);
  const { prev } = item;
  if (prev?.S !== undefined) accepted.add(prev.S);
}

async function readEntry(
  key: ArchiveKey,
  name: ArchiveEntryName,
  items: ReadonlyMap<string, Item>,
  sessionId: string,
): Promise<StoredItem> {
  const { position } = name;
  const what = `the entry ${position} of the archive "${key.archive}" of session ${JSON.stringify(sessionId)}`;
  const parts = joinParts(archivePrefix(key), archiveEntryName(name), items);
  return { position, json: await fromPayload(parts?.payload, what) };
}

function isBatchFull({ from, to }: NonNullable<ArchiveChange['remove']>): boolean {
  return Math.floor(to / REMOVED_AT_ONCE) > Math.floor(from / REMOVED_AT_ONCE);
}
