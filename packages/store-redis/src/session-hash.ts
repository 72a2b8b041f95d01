import { hasErrorCode, readSessionRecord, StateFormatError } from '@holdfast/core';
import type { SessionRecord, StoredSession } from '@holdfast/core';
import { decodeValue } from './value-codec.ts';

/**
 * A session is one hash, so that it expires and is evicted as a whole. Its fields:
 *
 *     i, w               incarnation and number of writes, which the scripts compare
 *     t                  the tokens of the last writes, newest first
 *     r, h               the record, the head
 *     v:<value>          a value of the session
 *     n:<list>           how long a list is
 *     l:<list>:<index>   an element of it
 *     q:<item>           an item of the inbox
 */
export const RECORD_FIELDS = ['i', 'w', 'r'] as const;
/** What they hold, in that order. */
export type RecordFields = readonly (Buffer | null | undefined)[];

/** Any text as part of a field's name. */
export function toName(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function fromName(name: string): string {
  return JSON.parse(`"${name}"`) as string;
}

/** The record in the fields of `RECORD_FIELDS`; `undefined` for no session. @throws StateFormatError naming the session. */
export function readRecord(
  [incarnation, writes, record]: RecordFields,
  sessionId: string,
): SessionRecord | undefined {
  if (!incarnation && !writes && !record) return undefined;
  return named(sessionId, () => {
    const read = readSessionRecord(JSON.parse(textOf(record, 'the record')));
    const [expected, found] = [
      [sessionId, read.incarnation, read.writes],
      [read.info.sessionId, String(incarnation), Number(String(writes))],
    ].map((facts) => JSON.stringify(facts));
    if (found !== expected) throw new StateFormatError('the record', String(expected), String(found));
    return read;
  });
}

/** All that a hash holds. @throws StateFormatError naming the session when something is missing. */
export function readHash(reply: readonly Buffer[], sessionId: string): StoredSession | undefined {
  if (reply.length === 0) return undefined;
  const fields = new Map<string, Buffer>();
  for (let index = 0; index + 1 < reply.length; index += 2) {
    fields.set(String(reply[index]), reply[index + 1] as Buffer);
  }
  const record = readRecord(
    RECORD_FIELDS.map((name) => fields.get(name)),
    sessionId,
  );
  return named(sessionId, () => {
    if (record === undefined) throw new StateFormatError('the hash', 'a session', 'other fields');
    const saved = {
      head: textOf(fields.get('h'), 'the head'),
      values: textsOf(fields, 'v:'),
      lists: listsOf(fields),
    };
    return { record, saved, inbox: textsOf(fields, 'q:') };
  });
}

/** So many fields at once: a script can take some thousands. */
const FIELDS_AT_ONCE = 1_000;

/** The items with these ids that a session of this incarnation has, asked for through `get`. */
export async function readItems(
  ids: readonly string[],
  incarnation: string,
  get: (fields: readonly string[]) => Promise<readonly (Buffer | null)[]>,
): Promise<ReadonlyMap<string, string>> {
  const items = new Map<string, string>();
  for (let first = 0; first < ids.length; first += FIELDS_AT_ONCE) {
    const some = ids.slice(first, first + FIELDS_AT_ONCE);
    const [found, ...texts] = await get(['i', ...some.map((id) => `q:${toName(id)}`)]);
    if (String(found) !== incarnation) return new Map();
    for (const [place, id] of some.entries()) {
      const bytes = texts[place];
      if (bytes) items.set(id, decodeValue(bytes, `item ${JSON.stringify(id)}`));
    }
  }
  return items;
}

function textsOf(fields: ReadonlyMap<string, Buffer>, kind: 'v:' | 'q:'): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [field, bytes] of fields) {
    if (field.startsWith(kind)) texts.set(fromName(field.slice(kind.length)), decodeValue(bytes, field));
  }
  return texts;
}

function listsOf(fields: ReadonlyMap<string, Buffer>): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, readonly string[]>();
  for (const [field, length] of fields) {
    if (!field.startsWith('n:')) continue;
    const name = field.slice(2);
    const elements = Array.from({ length: Number(String(length)) }, (_, index) =>
      textOf(fields.get(`l:${name}:${index}`), `element ${index} of "${name}"`),
    );
    lists.set(fromName(name), elements);
  }
  return lists;
}

function textOf(bytes: Buffer | null | undefined, what: string): string {
  if (bytes) return decodeValue(bytes, what);
  throw new StateFormatError(what, 'a part that is there', 'nothing');
}

/** Says which session it is that cannot be read. */
function named<T>(sessionId: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = hasErrorCode(error, 'STATE_VERSION') ? 'STATE_VERSION' : 'STATE_FORMAT';
    const where = `session ${JSON.stringify(sessionId)}`;
    throw new StateFormatError(where, 'what this release has written', error.message, { code, cause: error });
  }
}
