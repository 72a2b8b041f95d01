import { StateFormatError } from '@holdfast/core';
import type { InboxCursor, ItemRange, StoredItem } from '@holdfast/core/store';
import type { SessionLocation } from './read-session.ts';
import { fieldText, itemField, readRecord, RECORD_FIELDS } from './hash-fields.ts';
import type { FieldValues } from './hash-fields.ts';

/**
 * Reads the waiting items of a range, at most `limit`. The first request reads the positions from `from` on, which
 * usually suffices. If some of these were used, the record lists the positions to read next.
 */
export async function readInbox(
  { calls, key, sessionId }: SessionLocation,
  incarnation: string,
  { from, to, limit }: ItemRange,
): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  let positions = range(from, Math.min(to, from + limit));
  while (positions.length > 0) {
    const fields = [...RECORD_FIELDS, ...positions.map(itemField)];
    const [[token, text, ...values]] = await calls.read<[FieldValues]>([['hmget', key, ...fields]]);
    const record = readRecord([token, text], sessionId);
    if (record?.incarnation !== incarnation) return [];
    for (const [index, position] of positions.entries()) {
      const bytes = values[index];
      if (bytes) items.push({ position, json: itemText(bytes) });
    }
    const next = (positions.at(-1) ?? to) + 1;
    positions = waitingPositions(record.inbox, next, to, limit - items.length);
  }
  return items;
}

/** The text of an item; '' for a damaged one, so that it is reported as unreadable and does not block the others. */
function itemText(bytes: Buffer): string {
  try {
    return fieldText(bytes, 'the item');
  } catch (error) {
    if (error instanceof StateFormatError) return '';
    throw error;
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}

/** The first positions of a range at which an item waits. */
function waitingPositions(inbox: InboxCursor | undefined, from: number, to: number, limit: number): number[] {
  if (inbox === undefined) return [];
  const { first, next, used = [] } = inbox;
  const positions: number[] = [];
  const bounds = [first, ...used, next]; // pairs of the first position of a range and the position after its last
  for (let pair = 0; pair < bounds.length && positions.length < limit; pair += 2) {
    const start = Math.max(from, bounds[pair] ?? to);
    const end = Math.min(to, bounds[pair + 1] ?? to, start + limit - positions.length);
    positions.push(...range(start, end));
  }
  return positions;
}
