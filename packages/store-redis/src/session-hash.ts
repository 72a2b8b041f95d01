import { hasErrorCode, StateFormatError } from '@holdfast/core';
import { readSessionRecord } from '@holdfast/core/store';
import type { SessionRecord } from '@holdfast/core/store';
import { decodeValue } from './value-codec.ts';

/**
 * A session is one hash, so that it expires and is evicted as a whole. Its fields:
 *
 *     w                  the token of the record, which the scripts compare
 *     t                  the tokens of the 15 writes before, newest first
 *     r, h               the record, the head
 *     v:<value>          a value of the session
 *     n:<list>           how long a list is
 *     l:<list>:<index>   an element of it
 *     q:<position>       an item of the inbox
 *     k:<item id>        the position of the item with this id
 */
export const RECORD_FIELDS = ['w', 'r'] as const;
/** What fields hold, in the order in which they were asked for. */
export type Fields = readonly (Buffer | null | undefined)[];

export function valueField(name: string): string {
  return `v:${toName(name)}`;
}

export function lengthField(list: string): string {
  return `n:${toName(list)}`;
}

/** What the fields of the elements of a list begin with; the index follows. */
export function elementPrefix(list: string): string {
  return `l:${toName(list)}:`;
}

export function itemField(position: number): string {
  return `q:${position}`;
}

export function itemIdField(itemId: string): string {
  return `k:${toName(itemId)}`;
}

/** Any text as part of a field's name. */
export function toName(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** A record as it is kept: without a content token that is its own token, as after each save. */
export function recordText(record: SessionRecord): string {
  const { token, contentToken } = record;
  return JSON.stringify(token === contentToken ? { ...record, contentToken: undefined } : record);
}

/** The record in the fields of `RECORD_FIELDS`; `undefined` for no session. @throws StateFormatError naming the session. */
export function readRecord([token, record]: Fields, sessionId: string): SessionRecord | undefined {
  if (!token && !record) return undefined;
  return naming(sessionId, () => {
    const kept: object = JSON.parse(textOf(record, 'the record'));
    const read = readSessionRecord({ contentToken: String(token), ...kept });
    const expected = `write ${String(token)} of ${sessionId}`;
    const found = `write ${read.token} of ${read.info.sessionId}`;
    if (found !== expected) throw new StateFormatError('the record', expected, found);
    return read;
  });
}

/** The text of a field. @throws StateFormatError when it is missing or damaged. */
export function textOf(bytes: Buffer | null | undefined, what: string): string {
  if (bytes) return decodeValue(bytes, what);
  throw new StateFormatError(what, 'a part that is there', 'nothing');
}

/** Adds the id of the session to the error of a part that cannot be read. */
export function naming<T>(sessionId: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = hasErrorCode(error, 'STATE_VERSION') ? 'STATE_VERSION' : 'STATE_FORMAT';
    const where = `session ${JSON.stringify(sessionId)}`;
    throw new StateFormatError(where, 'what this release has written', error.message, { code, cause: error });
  }
}
