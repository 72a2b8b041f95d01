import { StateFormatError } from '@holdfast/core';
import { readSessionRecord, readStored, type SessionRecord } from '@holdfast/core/store';
import { escapeName } from '../layout/redis-keys.ts';
import { decodeValue } from './value-codec.ts';

/**
 * A session is one hash, so that it expires and is evicted as a whole. Its fields:
 *
 *     w                  the token of the record, which the scripts compare
 *     t                  the tokens of the 15 writes before, newest first
 *     r, h               the record, the head
 *     v:<value>          a value of the session
 *     n:<list>           the length of a list
 *     l:<list>:<index>   an element of a list
 *     q:<position>       an item of the inbox
 *     k:<item id>        the position of the item with this id
 *     a:<archive>:<position>  an entry of an archive
 */
export const RECORD_FIELDS = ['w', 'r'] as const;
/** The values of fields, in the order in which the fields were read. */
export type FieldValues = readonly (Buffer | null | undefined)[];

export function valueField(name: string): string {
  return `v:${escapeName(name)}`;
}

export function lengthField(list: string): string {
  return `n:${escapeName(list)}`;
}

/** The start of the field of each element of a list; the index follows. */
export function elementPrefix(list: string): string {
  return `l:${escapeName(list)}:`;
}

export function itemField(position: number): string {
  return `q:${position}`;
}

/** The field of an entry of an archive. */
export function entryField(archive: string, position: number): string {
  return `a:${archive}:${position}`;
}

export function itemIdField(itemId: string): string {
  return `k:${escapeName(itemId)}`;
}

/** A record as it is stored. The content token is omitted when it is the record's own token, as after each save. */
export function recordText(record: SessionRecord): string {
  const { token, contentToken } = record;
  return JSON.stringify(token === contentToken ? { ...record, contentToken: undefined } : record);
}

/** The record in `RECORD_FIELDS`; `undefined` for no session. @throws StateFormatError that names the session */
export function readRecord([token, record]: FieldValues, sessionId: string): SessionRecord | undefined {
  if (!token && !record) return undefined;
  return addSessionToError(sessionId, () => {
    const stored: object = JSON.parse(fieldText(record, 'the record'));
    const read = readSessionRecord({ contentToken: String(token), ...stored });
    const expected = `write ${String(token)} of ${sessionId}`;
    const found = `write ${read.token} of ${read.info.sessionId}`;
    if (found !== expected) throw new StateFormatError('the record', expected, found);
    return read;
  });
}

/** The text of a field. @throws StateFormatError when the field is missing or damaged */
export function fieldText(bytes: Buffer | null | undefined, what: string): string {
  if (bytes) return decodeValue(bytes, what);
  throw new StateFormatError(what, 'a stored value', 'nothing');
}

/** Calls a function, and adds the session id to an error that it throws. */
export function addSessionToError<T>(sessionId: string, read: () => T): T {
  const where = `session ${JSON.stringify(sessionId)}`;
  return readStored(where, 'a session that this release can read', read);
}
