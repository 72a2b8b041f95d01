import { StateFormatError } from '@holdfast/core';
import { waitingPositions, type ItemRange, type StoredItem } from '@holdfast/core/store';
import type { SessionLocation } from './read-session.ts';
import {
  entryField,
  fieldText,
  itemField,
  itemIdField,
  readRecord,
  RECORD_FIELDS,
  type FieldValues,
} from './hash-fields.ts';

/** The number of entries of an archive that one request reads. */
const MAX_ENTRIES = 500;

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
  let positions: readonly number[] = range(from, Math.min(to, from + limit));
  while (positions.length > 0) {
    const fields = [...RECORD_FIELDS, ...positions.map(itemField)];
    const [[token, text, ...values]] = await calls.read<[FieldValues]>([['hmget', key, ...fields]]);
    const record = readRecord([token, text], sessionId);
    if (record?.incarnation !== incarnation) return [];
    for (const [index, position] of positions.entries()) {
      const bytes = values[index];
      if (bytes) items.push({ position, json: itemText(bytes) });
    }
    const last = positions.at(-1) ?? to;
    const waiting = record.inbox ? waitingPositions(record.inbox, last, limit - items.length) : [];
    positions = waiting.filter((position) => position < to);
  }
  return items;
}

/** Returns the position of the item with an id. */
export async function readPosition(
  { calls, key, sessionId }: SessionLocation,
  incarnation: string,
  itemId: string,
): Promise<number | undefined> {
  const fields = [...RECORD_FIELDS, itemIdField(itemId)];
  const [[token, text, position]] = await calls.read<[FieldValues]>([['hmget', key, ...fields]]);
  if (readRecord([token, text], sessionId)?.incarnation !== incarnation || !position) return undefined;
  return Number(String(position));
}

/** Reads the entries of an archive in a range of positions, at most `limit`. */
export async function readArchive(
  { calls, key, sessionId }: SessionLocation,
  incarnation: string,
  archive: string,
  { from, to, limit }: ItemRange,
): Promise<readonly StoredItem[]> {
  const entries: StoredItem[] = [];
  for (let first = from; first < to && entries.length < limit; first += MAX_ENTRIES) {
    const positions = range(first, Math.min(to, first + MAX_ENTRIES));
    const fields = [...RECORD_FIELDS, ...positions.map((position) => entryField(archive, position))];
    const [[token, text, ...values]] = await calls.read<[FieldValues]>([['hmget', key, ...fields]]);
    if (readRecord([token, text], sessionId)?.incarnation !== incarnation) return [];
    for (const [index, position] of positions.entries()) {
      const bytes = values[index];
      if (bytes) entries.push({ position, json: fieldText(bytes, `entry ${position} of "${archive}"`) });
    }
  }
  return entries.slice(0, limit);
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
