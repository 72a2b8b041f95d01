import { StateFormatError } from '@holdfast/core';
import {
  missingParts,
  StoreThrottledError,
  type KnownSession,
  type ListChange,
  type MissingElements,
  type MissingParts,
  type ReadContent,
  type ReadRequest,
  type ReadSession,
  type SessionRecord,
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
/**
 * The number of elements after the known ones of a list that the first request reads. Each costs 23 bytes and 0.03
 * microseconds of the server, also when it is missing; a further request costs a round trip.
 */
const NEXT_ELEMENTS = 16;
/** After this number of attempts in pages, the content is read at once, which blocks the server for longer. */
const PAGED_ATTEMPTS = 2;
const MAX_ATTEMPTS = 1_000;
const MAX_ELEMENTS = 10_000_000;

/** The record, the stored head, and the fields that were read with them. */
interface Outline {
  readonly record: SessionRecord;
  readonly head: Buffer | null | undefined;
  readonly next: ReadonlyMap<string, FieldValues[number]>;
}

/** The head, and the parts that the reader does not know. */
interface Head {
  readonly text: string;
  readonly missing: MissingParts;
}

/** Where a session is stored. */
export interface SessionLocation {
  readonly calls: RedisCalls;
  readonly key: string;
  readonly sessionId: string;
}

/** Reads as much of a session as a request demands, as of one moment. */
export async function readSession(
  location: SessionLocation,
  { extent, known }: ReadRequest,
): Promise<ReadSession | undefined> {
  const outline = await readOutline(location, known);
  if (outline === undefined) return undefined;
  const { record, head } = outline;
  const needed = extent(record);
  if (needed === 'record') return { record };
  if (needed === 'content') return readContent(location, outline, known);
  return { record, content: { head: headText(record, head), values: new Map(), lists: [] } };
}

/**
 * Reads in pages the missing fields that the head names, unless they came with it. If another writer changed the content since
 * the outline was read, reads both again.
 */
async function readContent(
  location: SessionLocation,
  found: Outline,
  known: KnownSession | undefined,
): Promise<ReadSession | undefined> {
  const { calls, key, sessionId } = location;
  let last: { readonly token: string; readonly head: Head; readonly values: FieldValues } | undefined;
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const outline = attempts === 0 ? found : await readOutline(location, known);
    if (outline === undefined) return undefined;
    // Claims and enqueued items change the record, but not the content.
    const { record } = outline;
    if (last?.token === record.contentToken) return sessionOf(record, last.head, last.values);
    const head = readHead(outline, known);
    const fields = missingFields(head.missing);
    const commands = pageCommands(
      key,
      fields.filter((field) => !outline.next.has(field)),
    );
    const pages =
      attempts < PAGED_ATTEMPTS
        ? await readPages(calls, commands)
        : await calls.readAtOnce<FieldValues[]>(commands);
    const values = inOrder(fields, outline.next, pages);
    if (pages.every(([token]) => String(token) === record.token)) return sessionOf(record, head, values);
    last = { token: record.contentToken, head, values };
  }
  throw new StoreThrottledError(
    `Session "${sessionId}" was changed ${MAX_ATTEMPTS} times during one read. Retry later.`,
  );
}

/** Reads the record and the head, and what has probably been added to the known lists. */
async function readOutline(
  { calls, key, sessionId }: SessionLocation,
  known: KnownSession | undefined,
): Promise<Outline | undefined> {
  const fields = nextFields(known);
  const [[token, text, head, ...values]] = await calls.read<[FieldValues]>([
    ['hmget', key, ...RECORD_FIELDS, 'h', ...fields],
  ]);
  if (!token && !text && !head) return undefined;
  const record = readRecord([token, text], sessionId);
  const next = new Map(fields.map((field, index) => [field, values[index]]));
  if (record !== undefined) return { record, head, next };
  return addSessionToError(sessionId, () => {
    throw new StateFormatError('the hash', 'a session', 'a hash with other fields');
  });
}

/** @throws StateFormatError for a damaged head, also for one with more parts than can be read */
function readHead({ record, head }: Outline, known: KnownSession | undefined): Head {
  const text = headText(record, head);
  const missing = missingParts(record, text, known);
  for (const { name, to } of missing.lists) {
    if (to <= MAX_ELEMENTS) continue;
    addSessionToError(record.info.sessionId, () => {
      throw new StateFormatError(`the list "${name}"`, `${MAX_ELEMENTS} elements`, String(to));
    });
  }
  return { text, missing };
}

/** @throws StateFormatError for a damaged head */
function headText({ info }: SessionRecord, head: Outline['head']): string {
  return addSessionToError(info.sessionId, () => fieldText(head, 'the head'));
}

function nextFields(known: KnownSession | undefined): string[] {
  return Array.from(known?.lists ?? [], ([name, { length }]) =>
    listFields({ name, from: length, to: length + NEXT_ELEMENTS }),
  ).flat();
}

/** The missing fields, in the order in which `readParts` reads them. */
function missingFields({ values, lists }: MissingParts): string[] {
  return [...values.map(valueField), ...lists.flatMap(listFields)];
}

/** The fields of the length and of the elements of a list. */
function listFields({ name, from, to }: MissingElements): string[] {
  const prefix = elementPrefix(name);
  return [lengthField(name), ...Array.from({ length: to - from }, (_, index) => prefix + (from + index))];
}

/** Commands for fields. Each reads the token first. */
function pageCommands(key: string, fields: readonly string[]): ReadCommand[] {
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

/** The values of fields: of those that came with the record, and of the others in pages. */
function inOrder(
  fields: readonly string[],
  next: Outline['next'],
  pages: readonly FieldValues[],
): FieldValues {
  const others = pages.flatMap(([, ...values]) => values);
  let at = 0;
  return fields.map((field) => (next.has(field) ? next.get(field) : others[at++]));
}

function sessionOf(record: SessionRecord, head: Head, fields: FieldValues): ReadSession {
  return { record, content: addSessionToError(record.info.sessionId, () => readParts(head, fields)) };
}

function readParts({ text, missing }: Head, fields: FieldValues): ReadContent {
  let at = 0;
  const values = new Map<string, string>();
  for (const name of missing.values) values.set(name, fieldText(fields[at++], `the value "${name}"`));
  const lists: ListChange[] = [];
  for (const { name, from, to } of missing.lists) {
    const stored = String(fields[at++] ?? 0);
    if (stored !== String(to)) throw new StateFormatError(`the length of "${name}"`, String(to), stored);
    const append: string[] = [];
    for (let index = from; index < to; index++) {
      append.push(fieldText(fields[at++], `element ${index} of "${name}"`));
    }
    lists.push({ name, keep: from, append });
  }
  return { head: text, values, lists };
}
