import { isItemWaiting, type InboxCursor } from '@holdfast/core/store';
import type { Clock } from '@holdfast/core';
import type { Blobs } from '../blobs/blobs.ts';
import { isReference } from '../blobs/references.ts';
import type { Header } from '../header/header.ts';
import type { Item } from '../table/item.ts';
import { instantKey, type IncarnationKey, type ItemKey } from '../table/keys.ts';
import { LAST_KEY, type KeyRange, type Table } from '../table/table.ts';
import {
  itemNameIn,
  itemNameOf,
  markerKey,
  markersPrefix,
  positionPrefix,
  rowsPrefix,
} from './inbox-keys.ts';
import { removablePositions } from './removable-positions.ts';

export interface InboxRemovalInit {
  readonly table: Table;
  /** Where large items are stored. If it is absent, they are in the table. */
  readonly blobs: Blobs | undefined;
  readonly clock: Clock;
}

/** Removes used inbox items, and the rows that other writers staged at the same positions. */
export class InboxRemoval {
  private readonly table: Table;
  private readonly blobs: Blobs | undefined;
  private readonly clock: Clock;

  constructor({ table, blobs, clock }: InboxRemovalInit) {
    this.table = table;
    this.blobs = blobs;
    this.clock = clock;
  }

  /** Removes all rows of used positions. A row after a waiting item stays, because it names the accepted item. */
  async removeUsed(key: IncarnationKey, positions: readonly number[], cursor: InboxCursor): Promise<void> {
    const { pk, incarnation } = key;
    for (const [from, to] of removablePositions(positions, cursor)) {
      const first = from === 0 ? rowsPrefix(incarnation) : positionPrefix(incarnation, from);
      const rows: Item[] = [];
      for await (const items of this.keyPages(pk, { from: first, to: positionPrefix(incarnation, to) }))
        rows.push(...items);
      await this.deleteRows(key, rows);
    }
  }

  /**
   * Removes the inbox of an incarnation without a header. The marker of a blob stays for a day, because its writer may
   * still put the blob. It also stays if this store has no blob store.
   */
  async removeAll(key: IncarnationKey): Promise<void> {
    const { pk, incarnation } = key;
    const [rows, markers] = [rowsPrefix(incarnation), markersPrefix(incarnation)];
    for await (const items of this.keyPages(pk, { from: markers, to: markers + LAST_KEY })) {
      await this.blobs?.delete(key, blobReferencesIn(items));
      await this.deleteEach(
        pk,
        items.filter((item) => this.isSettled(item)),
      );
    }
    for await (const items of this.keyPages(pk, { from: rows, to: rows + LAST_KEY }))
      await this.deleteEach(pk, items);
  }

  /**
   * Removes the item of a marker and its blob, if the item was used. Returns `false` if the item waits, or if its
   * writer may still write the header.
   */
  async removeIfUsed({ pk, sk }: ItemKey, { record: { incarnation, inbox } }: Header): Promise<boolean> {
    const position = itemNameIn(sk)?.position;
    if (inbox === undefined || position === undefined) return false;
    if (position >= inbox.next || isItemWaiting(inbox, position)) return false;
    const key = { pk, incarnation };
    await this.removeUsed(key, [position], inbox);
    const marker: Item = { sk: { S: sk } };
    await this.blobs?.delete(key, blobReferencesIn([marker]));
    await this.deleteEach(pk, [marker]);
    return true;
  }

  /** Returns whether a marker can be removed after its blob was deleted. */
  private isSettled(marker: Item): boolean {
    if (!isReference(itemNameOf(marker).unique)) return true;
    const { sweep } = marker;
    const isOld = sweep?.S === undefined || sweep.S <= instantKey(this.clock.now());
    return this.blobs !== undefined && isOld;
  }

  /** Deletes the blobs of rows, then the rows and their markers. */
  private async deleteRows(key: IncarnationKey, rows: readonly Item[]): Promise<void> {
    await this.blobs?.delete(key, blobReferencesIn(rows));
    const markers = new Set(rows.map((row) => markerKey(key.incarnation, itemNameOf(row))));
    await this.deleteEach(key.pk, [...rows, ...[...markers].map((sk) => ({ sk: { S: sk } }))]);
  }

  private async deleteEach(pk: string, items: readonly Item[]): Promise<void> {
    await this.table.deleteEach(items.map(({ sk }) => ({ pk, sk: sk?.S ?? '' })));
  }

  private keyPages(pk: string, range: KeyRange): AsyncGenerator<readonly Item[]> {
    return this.table.itemPages(pk, range, { ProjectionExpression: 'sk, sweep' });
  }
}

/** The references of the blobs of rows or markers. */
function blobReferencesIn(items: readonly Item[]): string[] {
  return [...new Set(items.map((item) => itemNameOf(item).unique))].filter(isReference);
}
