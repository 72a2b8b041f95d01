import { StateFormatError } from '@holdfast/core';
import { savedParts, StoreThrottledError } from '@holdfast/core/store';
import type { SavedParts, SavedSession, SessionRecord, StoredSession } from '@holdfast/core/store';
import type { ReadCommand, RedisCalls } from './redis-calls.ts';
import {
  elementPrefix,
  lengthField,
  naming,
  readRecord,
  RECORD_FIELDS,
  textOf,
  valueField,
} from './session-hash.ts';
import type { Fields } from './session-hash.ts';

/** So many fields at once: the server serves others between two requests. They take 0.15 ms of it. */
const PAGE_FIELDS = 500;
/** How often the content is read in pages before it is read at one moment, which holds up the server for longer. */
const PAGED_TURNS = 2;
const MAX_TURNS = 1_000;
const MAX_ELEMENTS = 10_000_000;

/** What a session says of itself before its content is read. */
interface Outline {
  readonly record: SessionRecord;
  readonly head: string;
  readonly parts: SavedParts;
}

/** Where a session is. */
export interface SessionPlace {
  readonly calls: RedisCalls;
  readonly key: string;
  readonly sessionId: string;
}

/**
 * A session with its content, as of one moment. Record and head say which fields there are; these are read in pages, and
 * again where another writer came between and changed the content.
 */
export async function readSession(place: SessionPlace): Promise<StoredSession | undefined> {
  const { calls, key } = place;
  let last: { readonly outline: Outline; readonly found: Fields } | undefined;
  for (let turns = 0; turns < MAX_TURNS; turns++) {
    const outline = await readOutline(place);
    if (outline === undefined) return undefined;
    // Claims and enqueued items change the record and leave the content alone.
    if (last?.outline.record.contentToken === outline.record.contentToken)
      return stored(place, outline, last.found);
    const asked = pagesOf(key, outline.parts);
    const pages =
      turns < PAGED_TURNS ? await readApart(calls, asked) : await calls.readAtOnce<Fields[]>(asked);
    const found = pages.flatMap(([, ...fields]) => fields);
    if (pages.every(([token]) => String(token) === outline.record.token))
      return stored(place, outline, found);
    last = { outline, found };
  }
  throw new StoreThrottledError(
    `Session "${place.sessionId}" was changed ${MAX_TURNS} times while it was read.`,
  );
}

async function readOutline({ calls, key, sessionId }: SessionPlace): Promise<Outline | undefined> {
  const [[token, text, head]] = await calls.read<[Fields]>([['hmget', key, ...RECORD_FIELDS, 'h']]);
  if (!token && !text && !head) return undefined;
  const record = readRecord([token, text], sessionId);
  return naming(sessionId, () => {
    if (record === undefined) throw new StateFormatError('the hash', 'a session', 'other fields');
    const headText = textOf(head, 'the head');
    return { record, head: headText, parts: checkedParts(headText) };
  });
}

/** @throws StateFormatError for a damaged head that names more than can be asked for. */
function checkedParts(head: string): SavedParts {
  const parts = savedParts(head);
  for (const [list, length] of parts.lists) {
    if (length > MAX_ELEMENTS)
      throw new StateFormatError(`the list "${list}"`, `${MAX_ELEMENTS} elements`, String(length));
  }
  return parts;
}

/** Requests for all fields of the content, in the order of `savedOf`. The token of the record comes first in each. */
function pagesOf(key: string, { values, lists }: SavedParts): ReadCommand[] {
  const fields = values.map(valueField);
  for (const [list, length] of lists) {
    fields.push(lengthField(list));
    const prefix = elementPrefix(list);
    for (let index = 0; index < length; index++) fields.push(prefix + index);
  }
  const pages: ReadCommand[] = [];
  for (let first = 0; first < fields.length; first += PAGE_FIELDS) {
    pages.push(['hmget', key, 'w', ...fields.slice(first, first + PAGE_FIELDS)]);
  }
  return pages;
}

/** Sent together: the server reads so much of them at a time that others get their turn between two pages. */
async function readApart(calls: RedisCalls, pages: readonly ReadCommand[]): Promise<readonly Fields[]> {
  const replies = await Promise.all(pages.map((page) => calls.read<[Fields]>([page])));
  return replies.map(([fields]) => fields);
}

function stored({ sessionId }: SessionPlace, { record, head, parts }: Outline, found: Fields): StoredSession {
  return { record, saved: naming(sessionId, () => savedOf(head, parts, found)) };
}

function savedOf(head: string, parts: SavedParts, found: Fields): SavedSession {
  let at = 0;
  const values = new Map<string, string>();
  for (const name of parts.values) values.set(name, textOf(found[at++], `the value "${name}"`));
  const lists = new Map<string, readonly string[]>();
  for (const [name, length] of parts.lists) {
    const kept = String(found[at++] ?? 0); // an empty list has no fields
    if (kept !== String(length)) throw new StateFormatError(`the length of "${name}"`, String(length), kept);
    const elements: string[] = [];
    for (let index = 0; index < length; index++) {
      elements.push(textOf(found[at++], `element ${index} of "${name}"`));
    }
    lists.set(name, elements);
  }
  return { head, values, lists };
}
