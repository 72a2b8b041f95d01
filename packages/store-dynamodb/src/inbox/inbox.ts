import { StateFormatError } from '@holdfast/core';
import {
  isItemWaiting,
  waitingItemCount,
  type ItemRange,
  type RecordChange,
  type StoredItem,
} from '@holdfast/core/store';
import { blobsRequiredError, type Blobs } from '../blobs/blobs.ts';
import { offloadText, referenceIn, type NewBlob } from '../blobs/references.ts';
import type { Header } from '../header/header.ts';
import type { SweepMarks } from '../shards/sweep-marks.ts';
import type { Item } from '../table/item.ts';
import { partitionOf, type IncarnationKey } from '../table/keys.ts';
import { joinParts, newUniqueText, toParts } from '../table/parts.ts';
import { fromPayload } from '../table/payload.ts';
import { LAST_KEY, type KeyRange, type Table } from '../table/table.ts';
import {
  itemHash,
  itemNameOf,
  markerKey,
  markerPrefix,
  positionPrefix,
  rowName,
  rowsPrefix,
  type ItemName,
} from './inbox-keys.ts';

export interface InboxInit {
  readonly table: Table;
  readonly readHeader: (pk: string) => Promise<Header | undefined>;
  readonly marks: SweepMarks;
  /** Where large items are stored. If it is absent, they are in the table. */
  readonly blobs: Blobs | undefined;
}

/** The items to write for an inbox item, before the header that accepts it. */
export interface StagedItem {
  /** The marker and the rows. */
  readonly items: readonly Item[];
  readonly blobs: readonly NewBlob[];
  /** The unique part of the item's name. The header and the rows of the next position name the item by it. */
  readonly unique: string;
}

/** The rows of one position. */
interface PositionRows {
  readonly position: number;
  readonly rows: Map<string, Item>;
}

type NewItem = NonNullable<RecordChange['enqueue']>;

/**
 * The inbox of a session. An inbox item consists of one or more rows, and of a marker that finds it by its id.
 *
 * A writer stages rows and marker under a unique name. The header accepts the item when it names the item and counts
 * its position in `inbox.next`. A position can have rows of several writers; the header accepted one of them. The
 * header names the item that was accepted last, and each row names the accepted item at the position before.
 */
export class Inbox {
  private readonly table: Table;
  private readonly readHeader: InboxInit['readHeader'];
  private readonly marks: SweepMarks;
  private readonly blobs: Blobs | undefined;

  constructor({ table, readHeader, marks, blobs }: InboxInit) {
    this.table = table;
    this.readHeader = readHeader;
    this.marks = marks;
    this.blobs = blobs;
  }

  /**
   * Returns the items to write for a new inbox item.
   * @param previous the unique part of the name of the item that was accepted last
   */
  async stage(
    { pk, incarnation }: IncarnationKey,
    { id, position, json }: NewItem,
    previous: string | undefined,
  ): Promise<StagedItem> {
    const { content, blobs } = await offloadText(json, this.blobs?.minBytes ?? Number.POSITIVE_INFINITY);
    const unique = blobs[0]?.reference ?? newUniqueText();
    const named = { position, hash: itemHash(id), unique };
    const { items } = await toParts({
      pk,
      prefix: rowsPrefix(incarnation),
      nameOf: (parts) => rowName({ ...named, parts }),
      text: content,
      attributes: previous === undefined ? {} : { prev: { S: previous } },
    });
    const sk = markerKey(incarnation, { ...named, parts: items.length });
    const marks = blobs.length > 0 ? await this.marks(pk) : {};
    const marker: Item = { pk: { S: pk }, sk: { S: sk }, ...marks };
    return { items: [marker, ...items], blobs, unique };
  }

  /** Returns the position of the waiting item with this id. */
  async positionOf(pk: string, header: Header, itemId: string): Promise<number | undefined> {
    const { incarnation, inbox } = header.record;
    if (inbox === undefined || waitingItemCount(inbox) === 0) return undefined;
    const hash = itemHash(itemId);
    const from = markerPrefix(incarnation, hash);
    const markers = await this.readKeys(pk, { from, to: from + LAST_KEY });
    for (const position of new Set(markers.map((marker) => itemNameOf(marker).position))) {
      if (!isItemWaiting(inbox, position)) continue;
      const accepted = await this.acceptedAt(pk, header, position);
      if (accepted?.hash === hash) return position;
    }
    return undefined;
  }

  /** Reads items by position. Omits items whose rows or blobs are damaged. */
  async read(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    const key = { pk: partitionOf(sessionId), incarnation };
    const items: StoredItem[] = [];
    for await (const rows of this.readPositions(key, range)) {
      const json = await this.readText(key, rows);
      if (json !== undefined) items.push({ position: rows.position, json });
      if (items.length === range.limit) break;
    }
    return this.resolveBlobs(sessionId, incarnation, items);
  }

  /** The name of the item that the header accepted at a position before `inbox.next`. */
  private async acceptedAt(
    pk: string,
    { record: { incarnation, inbox }, lastItem }: Header,
    position: number,
  ): Promise<ItemName | undefined> {
    const from = positionPrefix(incarnation, position);
    const rows = await this.readKeys(pk, { from, to: positionPrefix(incarnation, position + 2) });
    const names = rows.filter(({ sk }) => sk?.S?.startsWith(from)).map(itemNameOf);
    if (new Set(names.map(({ unique }) => unique)).size < 2) return names[0];
    const isLast = position + 1 === inbox?.next;
    const next = rows.find((row) => itemNameOf(row).position > position && row['prev']?.S !== undefined);
    const accepted = isLast ? lastItem : next?.['prev']?.S;
    return names.find(({ unique }) => unique === accepted);
  }

  /** Reads the rows of a range of positions, grouped by position. */
  private async *readPositions(
    { pk, incarnation }: IncarnationKey,
    { from, to, limit }: ItemRange,
  ): AsyncGenerator<PositionRows> {
    const range = { from: positionPrefix(incarnation, from), to: positionPrefix(incarnation, to) };
    // One row more than the limit: a position is complete only when the next position begins.
    const pages = this.table.itemPages(pk, range, { Limit: limit + 1 });
    let current: PositionRows | undefined;
    for await (const items of pages) {
      for (const item of items) {
        const { position } = itemNameOf(item);
        if (current?.position !== position) {
          if (current) yield current;
          current = { position, rows: new Map() };
        }
        current.rows.set(item['sk']?.S ?? '', item);
      }
    }
    if (current) yield current;
  }

  /** The text of the accepted item at a position; `undefined` if the item is missing or damaged. */
  private async readText(
    { pk, incarnation }: IncarnationKey,
    { position, rows }: PositionRows,
  ): Promise<string | undefined> {
    const names = new Map([...rows.values()].map((row) => [itemNameOf(row).unique, itemNameOf(row)]));
    let [name] = names.values();
    if (names.size > 1) {
      const header = await this.readHeader(pk);
      const isSame = header?.record.incarnation === incarnation;
      name = isSame ? await this.acceptedAt(pk, header, position) : undefined;
    }
    const parts = name && joinParts(rowsPrefix(incarnation), rowName(name), rows);
    return undefinedIfDamaged(fromPayload(parts?.payload, `the inbox item ${position}`));
  }

  /** Replaces the references in items by the texts of their blobs. Omits items with a missing or damaged blob. */
  private async resolveBlobs(
    sessionId: string,
    incarnation: string,
    items: readonly StoredItem[],
  ): Promise<readonly StoredItem[]> {
    const references = items.flatMap(({ json }) => referenceIn(json) ?? []);
    if (references.length === 0) return items;
    if (this.blobs === undefined) throw blobsRequiredError(sessionId);
    const texts = await readTexts(this.blobs, { sessionId, incarnation }, references);
    return items.flatMap(({ position, json }) => {
      const reference = referenceIn(json);
      const text = reference === undefined ? json : texts.get(reference);
      return text === undefined ? [] : [{ position, json: text }];
    });
  }

  private async readKeys(pk: string, range: KeyRange): Promise<readonly Item[]> {
    const keys: Item[] = [];
    const options = { ProjectionExpression: 'sk, prev' };
    for await (const items of this.table.itemPages(pk, range, options)) keys.push(...items);
    return keys;
  }
}

/** Reads the texts of blobs, by reference. Omits missing and damaged blobs. */
async function readTexts(
  blobs: Blobs,
  session: { readonly sessionId: string; readonly incarnation: string },
  references: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const isWhole = await undefinedIfDamaged(blobs.read(session, references, texts).then(() => true));
  if (isWhole) return texts;
  for (const reference of references) await undefinedIfDamaged(blobs.read(session, [reference], texts));
  return texts;
}

async function undefinedIfDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof StateFormatError) return undefined;
    throw error;
  });
}
