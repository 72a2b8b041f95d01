import { StateFormatError } from '@holdfast/core';
import type { InboxCursor, ItemRange, StoredItem } from '@holdfast/core/store';
import type { SessionPlace } from './read-session.ts';
import { itemField, readRecord, RECORD_FIELDS, textOf } from './session-hash.ts';
import type { Fields } from './session-hash.ts';

/**
 * The items of a range that wait, at most `limit`. The first request asks for the positions that follow on `from`, which
 * mostly is all; where items between were used, the record says which positions to ask for next.
 */
export async function readInbox(
  { calls, key, sessionId }: SessionPlace,
  incarnation: string,
  { from, to, limit }: ItemRange,
): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = [];
  let positions = range(from, Math.min(to, from + limit));
  while (positions.length > 0) {
    const asked = [...RECORD_FIELDS, ...positions.map(itemField)];
    const [[token, text, ...found]] = await calls.read<[Fields]>([['hmget', key, ...asked]]);
    const record = readRecord([token, text], sessionId);
    if (record?.incarnation !== incarnation) return [];
    for (const [place, position] of positions.entries()) {
      const bytes = found[place];
      if (bytes) items.push({ position, json: itemText(bytes) });
    }
    const behind = (positions.at(-1) ?? to) + 1;
    positions = waiting(record.inbox, behind, to, limit - items.length);
  }
  return items;
}

/** The text of an item. A damaged one is answered as none, so that the reader reports it and the others are served. */
function itemText(bytes: Buffer): string {
  try {
    return textOf(bytes, 'the item');
  } catch (error) {
    if (error instanceof StateFormatError) return '';
    throw error;
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}

/** The first positions that wait. */
function waiting(inbox: InboxCursor | undefined, from: number, to: number, limit: number): number[] {
  if (inbox === undefined) return [];
  const { first, next, used = [] } = inbox;
  const positions: number[] = [];
  const bounds = [first, ...used, next]; // pairs of the first position and the one behind the last
  for (let pair = 0; pair < bounds.length && positions.length < limit; pair += 2) {
    const start = Math.max(from, bounds[pair] ?? to);
    const end = Math.min(to, bounds[pair + 1] ?? to, start + limit - positions.length);
    positions.push(...range(start, end));
  }
  return positions;
}
