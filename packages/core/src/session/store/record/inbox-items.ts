import { describeValue, StateFormatError } from '../../../errors.ts';
import type { Instant } from '../../../clock.ts';
import { isJsonObject, type JsonValue } from '../../../json.ts';
import { parsePart, unreadablePart } from '../content/session-content.ts';
import type { InboxItem, UnreadableItem } from '../../session-claim.ts';

/**
 * The version of a stored item: of its form, and of the contents that a runtime enqueues. A release that adds a type of
 * content raises the version, so that an older worker does not use such items.
 */
const ITEM_VERSION = 1;

/** The largest number of items that a claim or a renewal returns. */
export const INBOX_PAGE = 100;

/** Returns an item as the JSON that stores save. */
export function itemJson(id: string, content: JsonValue, enqueuedAt: Instant): string {
  return JSON.stringify({ version: ITEM_VERSION, id, enqueuedAt, content });
}

/**
 * Returns the item at a position, or the error of an unreadable item. `json` is `undefined` when the backend has no
 * such item.
 */
export function readItem(position: number, json: string | undefined): InboxItem | UnreadableItem {
  try {
    return Object.freeze({ position, ...itemOf(position, json) });
  } catch (error) {
    if (error instanceof StateFormatError) return Object.freeze({ position, error });
    throw error;
  }
}

export function isReadable(item: InboxItem | UnreadableItem): item is InboxItem {
  return 'id' in item;
}

export function isUnreadable(item: InboxItem | UnreadableItem): item is UnreadableItem {
  return !isReadable(item);
}

function itemOf(position: number, json: string | undefined): Omit<InboxItem, 'position'> {
  const place = `inbox item ${position}`;
  const item = parsePart(json, place, 'an item');
  if (!isJsonObject(item)) throw unreadablePart(place, 'an object', item);
  const { version, id, enqueuedAt, content } = item;
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw unreadablePart(`$.version of ${place}`, 'a version', version);
  }
  if (version !== ITEM_VERSION) {
    const expected = `version ${ITEM_VERSION}, the newest that this release can read`;
    throw new StateFormatError(`$.version of ${place}`, expected, describeValue(version), {
      code: 'STATE_VERSION',
    });
  }
  if (typeof id !== 'string') throw unreadablePart(`$.id of ${place}`, 'a string', id);
  if (!Number.isSafeInteger(enqueuedAt))
    throw unreadablePart(`$.enqueuedAt of ${place}`, 'an instant', enqueuedAt);
  if (content === undefined) throw unreadablePart(`$.content of ${place}`, 'JSON', content);
  return { id, content, enqueuedAt: enqueuedAt as Instant };
}
