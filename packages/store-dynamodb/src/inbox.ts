import { StateFormatError } from '@holdfast/core';
import { isItemWaiting, waitingItems } from '@holdfast/core/store';
import type { Clock } from '@holdfast/core';
import type { InboxCursor, ItemRange, RecordChange, StoredItem } from '@holdfast/core/store';
import { blobsNeeded } from './blobs.ts';
import type { BlobOwner, Blobs, BlobSession } from './blobs.ts';
import type { Header } from './header.ts';
import type { Item } from './item-size.ts';
import {
  inboxPrefix,
  instantKey,
  itemHash,
  itemNameOf,
  markerKey,
  markerPrefix,
  markersPrefix,
  partitionOf,
  positionPrefix,
  rowName,
} from './keys.ts';
import type { ItemKey, ItemName } from './keys.ts';
import { isReference, offloadedText, referenceIn } from './large-values.ts';
import type { NewBlob } from './large-values.ts';
import { joinedParts, newPartId, toParts } from './parts.ts';
import { fromPayload } from './payload.ts';
import type { SessionReader } from './session-reader.ts';
import type { SweepMarks } from './sweep-marks.ts';
import type { Table } from './table.ts';

export interface InboxInit {
  readonly table: Table;
  readonly reader: SessionReader;
  readonly marks: SweepMarks;
  /** Where large items are; absent: in the table. */
  readonly blobs: Blobs | undefined;
  readonly clock: Clock;
}

/** An item that is to be written ahead of the header that counts it. */
export interface StagedItem {
  readonly items: readonly Item[];
  readonly blobs: readonly NewBlob[];
  /** How the header and the next item name it. */
  readonly unique: string;
}

/** The rows that are kept for one position. */
interface Place {
  readonly position: number;
  readonly rows: ReadonlyMap<string, Item>;
}

type NewItem = NonNullable<RecordChange['enqueue']>;

/**
 * The inbox of a session. An item is kept in one row or several, and has a marker by which it is found by its id. A writer
 * stages them under a name that no other writer uses; they count once the header is flipped, which moves `inbox.next` past
 * their position and names the item. So a position can hold the rows of several writers, of which the header took one item:
 * each row names the item that the header took at the position before, and the header names the item at the last position.
 */
export class Inbox {
  private readonly table: Table;
  private readonly reader: SessionReader;
  private readonly marks: SweepMarks;
  private readonly blobs: Blobs | undefined;
  private readonly clock: Clock;

  constructor({ table, reader, marks, blobs, clock }: InboxInit) {
    this.table = table;
    this.reader = reader;
    this.marks = marks;
    this.blobs = blobs;
    this.clock = clock;
  }

  /** What to write of a new item; `previous` is the item that the header names. */
  async staged(
    { pk, incarnation }: BlobOwner,
    { id, position, json }: NewItem,
    previous: string | undefined,
  ): Promise<StagedItem> {
    const { content, blobs } = await offloadedText(json, this.blobs?.fromBytes ?? Number.POSITIVE_INFINITY);
    const unique = blobs[0]?.ref ?? newPartId();
    const named = { position, hash: itemHash(id), unique };
    const { items } = await toParts({
      pk,
      prefix: inboxPrefix(incarnation),
      nameOf: (parts) => rowName({ ...named, parts }),
      text: content,
      attributes: previous === undefined ? {} : { prev: { S: previous } },
    });
    const sk = markerKey(incarnation, { ...named, parts: items.length });
    const marks = blobs.length > 0 ? await this.marks(pk) : {};
    const marker: Item = { pk: { S: pk }, sk: { S: sk }, ...marks };
    return { items: [marker, ...items], blobs, unique };
  }

  /** Whether an item with this id waits. */
  async isDuplicate(pk: string, header: Header, itemId: string): Promise<boolean> {
    const { incarnation, inbox } = header.record;
    if (inbox === undefined || waitingItems(inbox) === 0) return false;
    const hash = itemHash(itemId);
    const prefix = markerPrefix(incarnation, hash);
    const markers = await this.itemsBetween(pk, prefix, `${prefix}~`);
    for (const position of new Set(markers.map((marker) => nameOf(marker).position))) {
      if (!isItemWaiting(inbox, position)) continue;
      const taken = await this.takenAt(pk, header, position);
      if (taken?.hash === hash) return true;
    }
    return false;
  }

  /** Items by position. An item with damaged rows or a damaged blob is left out. */
  async read(sessionId: string, incarnation: string, range: ItemRange): Promise<readonly StoredItem[]> {
    const owner = { pk: partitionOf(sessionId), incarnation };
    const found: StoredItem[] = [];
    for await (const place of this.places(owner, range)) {
      const json = await this.textAt(owner, place);
      if (json !== undefined) found.push({ position: place.position, json });
      if (found.length === range.limit) break;
    }
    return this.withBlobs(sessionId, owner, found);
  }

  /**
   * Deletes used items, with everything that other writers have staged for their positions. The row behind a waiting item
   * is kept, because it names the item that the header took before it.
   */
  async drop(owner: BlobOwner, positions: readonly number[], cursor: InboxCursor): Promise<void> {
    for (const [from, to] of droppable(positions, cursor)) {
      const first = from === 0 ? inboxPrefix(owner.incarnation) : positionPrefix(owner.incarnation, from);
      await this.deleteRows(
        owner,
        await this.itemsBetween(owner.pk, first, positionPrefix(owner.incarnation, to)),
      );
    }
  }

  /** Deletes the inbox of an incarnation whose header is gone. A marker of the last day stays if its blob may still be put. */
  async clear(owner: BlobOwner): Promise<void> {
    const { pk, incarnation } = owner;
    const [rows, markers] = [inboxPrefix(incarnation), markersPrefix(incarnation)];
    const now = instantKey(this.clock.now());
    for await (const items of this.keysBetween(pk, markers, `${markers}~`)) {
      await this.blobs?.delete(owner, referencesIn(items));
      const isSettled = ({ sweep }: Item): boolean => sweep?.S === undefined || sweep.S <= now;
      const isDone = (item: Item): boolean =>
        !isOfBlob(item) || (this.blobs !== undefined && isSettled(item));
      await this.deleteEach(pk, items.filter(isDone));
    }
    for await (const items of this.keysBetween(pk, rows, `${rows}~`)) await this.deleteEach(pk, items);
  }

  /** Deletes the item of a marker, with its blob, if it was used; `false` if it waits, or a writer may still flip it in. */
  async sweep({ pk, sk }: ItemKey, { record: { incarnation, inbox } }: Header): Promise<boolean> {
    const position = itemNameOf(sk)?.position;
    if (inbox === undefined || position === undefined) return false;
    if (position >= inbox.next || isItemWaiting(inbox, position)) return false;
    const owner = { pk, incarnation };
    await this.drop(owner, [position], inbox);
    const marker: Item = { sk: { S: sk } };
    await this.blobs?.delete(owner, referencesIn([marker]));
    await this.deleteEach(pk, [marker]);
    return true;
  }

  /** Deletes rows with their markers, and their blobs before them. */
  private async deleteRows(owner: BlobOwner, rows: readonly Item[]): Promise<void> {
    await this.blobs?.delete(owner, referencesIn(rows));
    const markers = new Set(rows.map((row) => markerKey(owner.incarnation, nameOf(row))));
    await this.deleteEach(owner.pk, [...rows, ...[...markers].map((sk) => ({ sk: { S: sk } }))]);
  }

  private async deleteEach(pk: string, items: readonly Item[]): Promise<void> {
    await this.table.deleteEach(items.map(({ sk }) => ({ pk, sk: sk?.S ?? '' })));
  }

  /** The item that the header took at a position that it has passed. */
  private async takenAt(
    pk: string,
    { record: { incarnation, inbox }, lastItem }: Header,
    position: number,
  ): Promise<ItemName | undefined> {
    const prefix = positionPrefix(incarnation, position);
    const rows = await this.itemsBetween(pk, prefix, positionPrefix(incarnation, position + 2));
    const names = rows.filter(({ sk }) => sk?.S?.startsWith(prefix)).map(nameOf);
    if (new Set(names.map(({ unique }) => unique)).size < 2) return names[0];
    const isLast = position + 1 === inbox?.next;
    const behind = rows.find((row) => nameOf(row).position > position && row['prev']?.S !== undefined);
    const taken = isLast ? lastItem : behind?.['prev']?.S;
    return names.find(({ unique }) => unique === taken);
  }

  /** The positions of a range that have rows. */
  private async *places(
    { pk, incarnation }: BlobOwner,
    { from, to, limit }: ItemRange,
  ): AsyncGenerator<Place> {
    const pages = this.table.pages({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: {
        ':pk': { S: pk },
        ':from': { S: positionPrefix(incarnation, from) },
        ':to': { S: positionPrefix(incarnation, to) },
      },
      ConsistentRead: true,
      Limit: limit + 1, // the last position has no more rows once the next one begins
    });
    let place: { position: number; rows: Map<string, Item> } | undefined;
    for await (const items of pages) {
      for (const item of items) {
        const { position } = nameOf(item);
        if (place?.position !== position) {
          if (place) yield place;
          place = { position, rows: new Map() };
        }
        place.rows.set(item['sk']?.S ?? '', item);
      }
    }
    if (place) yield place;
  }

  /** The text of the item that the header took at a position. */
  private async textAt(
    { pk, incarnation }: BlobOwner,
    { position, rows }: Place,
  ): Promise<string | undefined> {
    const names = new Map([...rows.values()].map((row) => [nameOf(row).unique, nameOf(row)]));
    let [name] = names.values();
    if (names.size > 1) {
      const header = await this.reader.header(pk);
      name =
        header?.record.incarnation === incarnation ? await this.takenAt(pk, header, position) : undefined;
    }
    const parts = name && joinedParts(inboxPrefix(incarnation), rowName(name), rows);
    return unlessDamaged(fromPayload(parts?.payload, `the inbox item ${position}`));
  }

  /** Items with the texts of the blobs that they refer to. */
  private async withBlobs(
    sessionId: string,
    { incarnation }: BlobOwner,
    items: readonly StoredItem[],
  ): Promise<readonly StoredItem[]> {
    const refs = items.flatMap(({ json }) => referenceIn(json) ?? []);
    if (refs.length === 0) return items;
    if (this.blobs === undefined) throw blobsNeeded(sessionId);
    const texts = await this.textsOf({ sessionId, incarnation }, refs, this.blobs);
    return items.flatMap(({ position, json }) => {
      const ref = referenceIn(json);
      const text = ref === undefined ? json : texts.get(ref);
      return text === undefined ? [] : [{ position, json: text }];
    });
  }

  /** The texts of blobs. A missing or damaged blob is left out, and does not affect the others. */
  private async textsOf(
    session: BlobSession,
    refs: readonly string[],
    blobs: Blobs,
  ): Promise<ReadonlyMap<string, string>> {
    const texts = new Map<string, string>();
    const isWhole = await unlessDamaged(blobs.read(session, refs, texts).then(() => true));
    if (!isWhole) for (const ref of refs) await unlessDamaged(blobs.read(session, [ref], texts));
    return texts;
  }

  private async itemsBetween(pk: string, from: string, to: string): Promise<readonly Item[]> {
    const found: Item[] = [];
    for await (const items of this.keysBetween(pk, from, to)) found.push(...items);
    return found;
  }

  private keysBetween(pk: string, from: string, to: string): AsyncGenerator<readonly Item[]> {
    return this.table.pages({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':from': { S: from }, ':to': { S: to } },
      ProjectionExpression: 'sk, prev, sweep',
      ConsistentRead: true,
    });
  }
}

/** The ranges of positions whose rows need not be kept any more, now that these positions were used; `to` is excluded. */
function droppable(
  positions: readonly number[],
  cursor: InboxCursor,
): (readonly [from: number, to: number])[] {
  const { first, next } = cursor;
  return runsOf(positions).flatMap(([begin, end]) => {
    const isKeptBehind = end < next && !isItemWaiting(cursor, end);
    const to = isKeptBehind ? end + 1 : end;
    const from = end <= first ? 0 : isItemWaiting(cursor, begin - 1) ? begin + 1 : begin;
    return from < to ? [[from, to] as const] : [];
  });
}

/** Numbers as runs of consecutive ones; `end` is excluded. */
function runsOf(numbers: readonly number[]): (readonly [begin: number, end: number])[] {
  const runs: [number, number][] = [];
  for (const number of [...new Set(numbers)].toSorted((left, right) => left - right)) {
    const last = runs.at(-1);
    if (last?.[1] === number) last[1] = number + 1;
    else runs.push([number, number + 1]);
  }
  return runs;
}

/** The blobs of rows or markers. */
function referencesIn(items: readonly Item[]): string[] {
  return [...new Set(items.map((item) => nameOf(item).unique))].filter(isReference);
}

function isOfBlob(item: Item): boolean {
  return isReference(nameOf(item).unique);
}

function nameOf({ sk }: Item): ItemName {
  return itemNameOf(sk?.S ?? '') ?? { position: -1, hash: '', unique: '', parts: 0 };
}

/** The result of reading something, or `undefined` if that is damaged. */
async function unlessDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof StateFormatError) return undefined;
    throw error;
  });
}
