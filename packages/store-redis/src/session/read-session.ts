import { StateFormatError } from '@holdfast/core';
import {
  contentParts,
  StoreThrottledError,
  type ContentParts,
  type ReadSession,
  type SessionContent,
  type SessionRecord,
  type StoredSession,
} from '@holdfast/core/store';
import type { ReadCommand, RedisCalls } from '../server/redis-calls.ts';
import {
  addSessionToError,
  elementPrefix,
  fieldText,
  lengthField,
  readRecord,
  RECORD_FIELDS,
  valueField,
  type FieldValues,
} from './hash-fields.ts';

/**
 * The number of fields that one request reads. It takes the server 0.15 ms; other requests are served between two
 * pages.
 */
const PAGE_FIELDS = 500;
/** After this number of attempts in pages, the content is read at once, which blocks the server for longer. */
const PAGED_ATTEMPTS = 2;
const MAX_ATTEMPTS = 1_000;
const MAX_ELEMENTS = 10_000_000;

/** The record and the stored head. */
interface Outline {
  readonly record: SessionRecord;
  readonly head: Buffer | null | undefined;
}

/** The head, and the parts whose fields it names. */
interface Head {
  readonly text: string;
  readonly parts: ContentParts;
}

/** Where a session is stored. */
export interface SessionLocation {
  readonly calls: RedisCalls;
  readonly key: string;
  readonly sessionId: string;
}

/** Reads a session with its content, as of one moment. */
export async function readSession(location: SessionLocation): Promise<StoredSession | undefined> {
  const outline = await readOutline(location);
  return outline && readContent(location, outline);
}

/** Reads a record, and the content of its session if `needsContent` returns true for the record. */
export async function readSessionIf(
  location: SessionLocation,
  needsContent: (record: SessionRecord) => boolean,
): Promise<ReadSession | undefined> {
  const outline = await readOutline(location);
  if (outline === undefined || !needsContent(outline.record)) return outline && { record: outline.record };
  return readContent(location, outline);
}

/**
 * Reads in pages the fields that the head names. If another writer changed the content since the outline was read, reads
 * both again.
 */
async function readContent(location: SessionLocation, found: Outline): Promise<StoredSession | undefined> {
  const { calls, key, sessionId } = location;
  let last: { readonly token: string; readonly head: Head; readonly values: FieldValues } | undefined;
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const outline = attempts === 0 ? found : await readOutline(location);
    if (outline === undefined) return undefined;
    // Claims and enqueued items change the record, but not the content.
    const { record } = outline;
    if (last?.token === record.contentToken) return storedSession(record, last.head, last.values);
    const head = addSessionToError(sessionId, () => readHead(outline));
    const commands = pageCommands(key, head.parts);
    const pages =
      attempts < PAGED_ATTEMPTS
        ? await readPages(calls, commands)
        : await calls.readAtOnce<FieldValues[]>(commands);
    const values = pages.flatMap(([, ...fields]) => fields);
    if (pages.every(([token]) => String(token) === record.token)) return storedSession(record, head, values);
    last = { token: record.contentToken, head, values };
  }
  throw new StoreThrottledError(
    `Session "${sessionId}" was changed ${MAX_ATTEMPTS} times during one read. Retry later.`,
  );
}

async function readOutline({ calls, key, sessionId }: SessionLocation): Promise<Outline | undefined> {
  const [[token, text, head]] = await calls.read<[FieldValues]>([['hmget', key, ...RECORD_FIELDS, 'h']]);
  if (!token && !text && !head) return undefined;
  const record = readRecord([token, text], sessionId);
  if (record !== undefined) return { record, head };
  return addSessionToError(sessionId, () => {
    throw new StateFormatError('the hash', 'a session', 'a hash with other fields');
  });
}

/** @throws StateFormatError for a damaged head, also for one with more parts than can be read */
function readHead({ head }: Outline): Head {
  const text = fieldText(head, 'the head');
  const parts = contentParts(text);
  for (const [list, length] of parts.lists) {
    if (length > MAX_ELEMENTS)
      throw new StateFormatError(`the list "${list}"`, `${MAX_ELEMENTS} elements`, String(length));
  }
  return { text, parts };
}

/**
 * Commands for all fields of the content, in the order in which `savedSession` reads them. Each reads the token first.
 */
function pageCommands(key: string, { values, lists }: ContentParts): ReadCommand[] {
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

/** Reads pages in separate requests, which are sent together: the server serves other clients between two of them. */
async function readPages(
  calls: RedisCalls,
  commands: readonly ReadCommand[],
): Promise<readonly FieldValues[]> {
  const replies = await Promise.all(commands.map((command) => calls.read<[FieldValues]>([command])));
  return replies.map(([values]) => values);
}

function storedSession(record: SessionRecord, head: Head, values: FieldValues): StoredSession {
  const { sessionId } = record.info;
  return { record, content: addSessionToError(sessionId, () => savedSession(head, values)) };
}

function savedSession({ text, parts }: Head, fields: FieldValues): SessionContent {
  let at = 0;
  const values = new Map<string, string>();
  for (const name of parts.values) values.set(name, fieldText(fields[at++], `the value "${name}"`));
  const lists = new Map<string, readonly string[]>();
  for (const [name, length] of parts.lists) {
    const stored = String(fields[at++] ?? 0); // an empty list has no fields
    if (stored !== String(length))
      throw new StateFormatError(`the length of "${name}"`, String(length), stored);
    const elements: string[] = [];
    for (let index = 0; index < length; index++) {
      elements.push(fieldText(fields[at++], `element ${index} of "${name}"`));
    }
    lists.set(name, elements);
  }
  return { head: text, values, lists };
}
