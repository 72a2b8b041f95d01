import { SessionTooLargeError } from '@holdfast/core';
import type { ListChange, RecordChange, SessionRecord } from '@holdfast/core/store';
import { indexChanges, type IndexChange } from './indexes/session-indexes.ts';
import type { RedisKeys } from './layout/redis-keys.ts';
import type { RedisArgument } from './server/redis-client.ts';
import {
  elementPrefix,
  entryField,
  itemField,
  itemIdField,
  lengthField,
  recordText,
  valueField,
} from './session/hash-fields.ts';
import { encodeValue } from './session/value-codec.ts';

/** A compare-and-set of a record, as `SessionBackend` defines it. */
export interface RecordWrite {
  readonly sessionId: string;
  readonly before: SessionRecord | undefined;
  readonly after: SessionRecord | undefined;
  readonly change: RecordChange;
  /** The instant at which the server removes the hash by itself. */
  readonly removeAt: number | undefined;
}

export interface ScriptInput {
  readonly keys: readonly string[];
  readonly args: readonly RedisArgument[];
}

type Mode = 'keep' | 'whole' | 'new' | 'delete';
type Encode = (json: string) => string | Buffer;

/**
 * The keys and arguments of the script `compare-and-set.lua`, which describes them.
 * @throws SessionTooLargeError for a value larger than `maxValueBytes`
 */
export function compareAndSetInput(write: RecordWrite, keys: RedisKeys, maxValueBytes: number): ScriptInput {
  const { sessionId, before, after, change } = write;
  const mode = modeOf(write);
  const entries = indexChanges(before, after);
  const encode: Encode = (json) => {
    checkSize(json, maxValueBytes, sessionId);
    return encodeValue(json);
  };
  const { guardValues, guardedFields, removedFields, setFields } = fieldChanges(after, change, mode, encode);
  return {
    keys: keys.sessionWith(sessionId, entries),
    args: [
      mode,
      before ? before.token : '',
      after ? after.token : '',
      removalOf(write),
      guardValues.length,
      removedFields.length,
      ...guardValues,
      ...scoresOf(entries),
      ...removedFields,
      ...guardedFields,
      ...setFields,
    ],
  };
}

/** The keys and arguments of the script that deletes the hash of a session with this token, and no index entry. */
export function discardInput(key: string, token: string | Buffer): ScriptInput {
  return { keys: [key], args: ['delete', token, '', '', 0, 0] };
}

/** The instant at which the server removes the hash; `persist` cancels the removal, '' changes nothing. */
function removalOf({ before, removeAt }: RecordWrite): number | 'persist' | '' {
  return removeAt ?? (before?.expiresAt === undefined ? '' : 'persist');
}

/** The mode of the script, which determines the fields that the hash keeps. */
function modeOf({ before, after, change }: RecordWrite): Mode {
  if (after === undefined) return 'delete';
  if (before?.incarnation !== after.incarnation) return 'new';
  return change.plan?.isWhole ? 'whole' : 'keep';
}

interface FieldChanges {
  /** The value that each guarded field must have; '' for an absent field. */
  readonly guardValues: RedisArgument[];
  /** The guarded fields, each followed by its new value. */
  readonly guardedFields: RedisArgument[];
  readonly removedFields: string[];
  /** Fields, each followed by its new value. */
  readonly setFields: RedisArgument[];
}

function fieldChanges(
  after: SessionRecord | undefined,
  { plan, enqueue, acknowledge = [], archives = [] }: RecordChange,
  mode: Mode,
  encode: Encode,
): FieldChanges {
  const changes: FieldChanges = { guardValues: [], guardedFields: [], removedFields: [], setFields: [] };
  const { guardValues, guardedFields, removedFields, setFields } = changes;
  if (after) setFields.push('r', encodeValue(recordText(after)));
  if (plan) setFields.push('h', encode(plan.head));
  for (const [name, json] of plan?.values ?? []) {
    if (json === undefined) removedFields.push(valueField(name));
    else setFields.push(valueField(name), encode(json));
  }
  for (const list of plan?.lists ?? []) addList(changes, list, mode, encode);
  if (enqueue) {
    guardValues.push('');
    guardedFields.push(itemIdField(enqueue.id), enqueue.position);
    setFields.push(itemField(enqueue.position), encode(enqueue.json));
  }
  for (const { id, position } of acknowledge) removedFields.push(itemField(position), itemIdField(id));
  for (const { archive, put, remove = { from: 0, to: 0 } } of archives) {
    for (const { position, json } of put) setFields.push(entryField(archive, position), encode(json));
    for (let position = remove.from; position < remove.to; position++)
      removedFields.push(entryField(archive, position));
  }
  return changes;
}

/** Adds the fields of a list. A list that continues is guarded by the length that the plan knows. */
function addList(
  { guardValues, guardedFields, setFields }: FieldChanges,
  { name, keep, append }: ListChange,
  mode: Mode,
  encode: Encode,
): void {
  const length = keep + append.length;
  if (mode === 'keep') {
    guardValues.push(keep === 0 ? '' : keep);
    guardedFields.push(lengthField(name), length);
  } else if (length > 0) {
    setFields.push(lengthField(name), length);
  }
  const prefix = elementPrefix(name);
  for (const [index, json] of append.entries()) setFields.push(prefix + (keep + index), encode(json));
}

/** @throws SessionTooLargeError */
function checkSize(json: string, maxValueBytes: number, sessionId: string): void {
  if (json.length * 3 <= maxValueBytes) return; // a UTF-16 unit takes at most 3 bytes
  const bytes = Buffer.byteLength(json);
  if (bytes > maxValueBytes) throw new SessionTooLargeError(sessionId, bytes, maxValueBytes);
}

/** The scores of index entries, as the script reads them. */
function scoresOf(changes: readonly IndexChange[]): (number | '=' | '-')[] {
  let last: number | undefined;
  return changes.map(({ score }) => {
    if (score === undefined) return '-';
    const isSame = score === last;
    last = score;
    return isSame ? '=' : score;
  });
}
