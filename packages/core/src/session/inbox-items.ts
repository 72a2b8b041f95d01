import { describeValue, StateFormatError } from '../errors.ts';
import type { Instant } from '../clock.ts';
import type { JsonValue } from '../json.ts';
import { isJsonObject } from '../json.ts';
import type { StoredItem } from './session-backend.ts';
import type { InboxItem, UnreadableItem } from './session-store.ts';

/** The version of the form in which items are stored, and of what a runtime may enqueue. Newer ones stay in the inbox. */
const ITEM_VERSION = 1;

/** The most items that one claim or renewal answers. */
export const INBOX_PAGE = 100;

/** An item as stores keep it. */
export function itemJson(id: string, content: JsonValue, enqueuedAt: Instant): string {
  return JSON.stringify({ version: ITEM_VERSION, id, enqueuedAt, content });
}

/** The item again, or why it cannot be read. */
export function readItem({ position, json }: StoredItem): InboxItem | UnreadableItem {
  try {
    return Object.freeze({ position, ...itemOf(json) });
  } catch (error) {
    if (error instanceof StateFormatError) return unreadable(position, error);
    throw error;
  }
}

/** An item that should be there and is not. */
export function missingItem(position: number): UnreadableItem {
  return unreadable(position, new StateFormatError('$', 'an item', 'nothing'));
}

export function isReadable(item: InboxItem | UnreadableItem): item is InboxItem {
  return 'id' in item;
}

export function isUnreadable(item: InboxItem | UnreadableItem): item is UnreadableItem {
  return !isReadable(item);
}

function unreadable(position: number, cause: StateFormatError): UnreadableItem {
  const { path, code, message } = cause;
  const where = path === '$' ? `inbox item ${position}` : `${path} of inbox item ${position}`;
  const error = new StateFormatError(where, 'an item that this release can read', message, {
    code: code === 'STATE_VERSION' ? code : 'STATE_FORMAT',
    cause,
  });
  return Object.freeze({ position, error });
}

function itemOf(json: string): Omit<InboxItem, 'position'> {
  const item = parsed(json);
  if (!isJsonObject(item)) throw misfit('$', 'an object', item);
  const { version, id, enqueuedAt, content } = item;
  if (typeof version !== 'number' || version < 1)
    throw misfit('$.version', `version ${ITEM_VERSION}`, version);
  if (version > ITEM_VERSION) {
    throw misfit(
      '$.version',
      `version ${ITEM_VERSION}; a newer release wrote this`,
      version,
      'STATE_VERSION',
    );
  }
  if (typeof id !== 'string') throw misfit('$.id', 'a string', id);
  if (!Number.isSafeInteger(enqueuedAt)) throw misfit('$.enqueuedAt', 'an instant', enqueuedAt);
  if (content === undefined) throw misfit('$.content', 'JSON', content);
  return { id, content, enqueuedAt: enqueuedAt as Instant };
}

function parsed(json: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    throw misfit('$', 'JSON', json);
  }
}

function misfit(path: string, expected: string, found: unknown, code?: 'STATE_VERSION'): StateFormatError {
  return new StateFormatError(path, expected, describeValue(found), { code });
}
