import { SessionTooLargeError } from '@holdfast/core';
import type { ListChange, RecordChange, SessionRecord } from '@holdfast/core/store';
import type { RedisArgument } from './redis-client.ts';
import type { RedisKeys } from './redis-keys.ts';
import {
  elementPrefix,
  itemField,
  itemIdField,
  lengthField,
  recordText,
  valueField,
} from './session-hash.ts';
import { indexMoves } from './session-indexes.ts';
import type { IndexMove } from './session-indexes.ts';
import { encodeValue } from './value-codec.ts';

/** One swap, as `SessionBackend` asks for it. */
export interface Swap {
  readonly sessionId: string;
  readonly before: SessionRecord | undefined;
  readonly after: SessionRecord | undefined;
  readonly change: RecordChange;
  /** When the server removes the hash by itself. */
  readonly removeAt: number | undefined;
}

/** What a script is called with. */
export interface ScriptInput {
  readonly keys: readonly string[];
  readonly args: readonly RedisArgument[];
}

type Mode = 'keep' | 'whole' | 'new' | 'delete';
type Encode = (json: string) => string | Buffer;

/**
 * The keys and arguments of the script `SWAP`, which describes them.
 * @throws SessionTooLargeError for a value beyond `maxValueBytes`.
 */
export function swapInput(swap: Swap, keys: RedisKeys, maxValueBytes: number): ScriptInput {
  const { sessionId, before, after, change } = swap;
  const mode = modeOf(swap);
  const moves = indexMoves(before, after);
  const encode: Encode = (json) => {
    refuseLarger(json, maxValueBytes, sessionId);
    return encodeValue(json);
  };
  const { guards, guarded, removed, set } = fieldChanges(after, change, mode, encode);
  return {
    keys: keys.sessionWith(sessionId, moves),
    args: [
      mode,
      before ? before.token : '',
      after ? after.token : '',
      removalOf(swap),
      guards.length,
      removed.length,
      ...guards,
      ...scoresOf(moves),
      ...removed,
      ...guarded,
      ...set,
    ],
  };
}

/** When the server removes the hash; nothing where it never does and never did. */
function removalOf({ before, removeAt }: Swap): number | 'persist' | '' {
  return removeAt ?? (before?.expiresAt === undefined ? '' : 'persist');
}

/** What remains of what was there: nothing, the inbox, or all but what the plan changes. */
function modeOf({ before, after, change }: Swap): Mode {
  if (after === undefined) return 'delete';
  if (before?.incarnation !== after.incarnation) return 'new';
  return change.plan?.isWhole ? 'whole' : 'keep';
}

interface FieldChanges {
  /** For each guarded field the value that it must have; '' for none. */
  readonly guards: RedisArgument[];
  /** Guarded fields and their new values in turn. */
  readonly guarded: RedisArgument[];
  readonly removed: string[];
  /** Fields and values in turn. */
  readonly set: RedisArgument[];
}

function fieldChanges(
  after: SessionRecord | undefined,
  { plan, enqueue, acknowledge = [] }: RecordChange,
  mode: Mode,
  encode: Encode,
): FieldChanges {
  const changes: FieldChanges = { guards: [], guarded: [], removed: [], set: [] };
  const { guards, guarded, removed, set } = changes;
  if (after) set.push('r', encodeValue(recordText(after)));
  if (plan) set.push('h', encode(plan.head));
  for (const [name, json] of plan?.values ?? []) {
    if (json === undefined) removed.push(valueField(name));
    else set.push(valueField(name), encode(json));
  }
  for (const list of plan?.lists ?? []) addList(changes, list, mode, encode);
  if (enqueue) {
    guards.push('');
    guarded.push(itemIdField(enqueue.id), enqueue.position);
    set.push(itemField(enqueue.position), encode(enqueue.json));
  }
  for (const { id, position } of acknowledge) removed.push(itemField(position), itemIdField(id));
  return changes;
}

/** A list that continues is guarded by the length that the plan knows. */
function addList(
  { guards, guarded, set }: FieldChanges,
  { name, keep, append }: ListChange,
  mode: Mode,
  encode: Encode,
): void {
  const length = keep + append.length;
  if (mode === 'keep') {
    guards.push(keep === 0 ? '' : keep);
    guarded.push(lengthField(name), length);
  } else if (length > 0) {
    set.push(lengthField(name), length);
  }
  const prefix = elementPrefix(name);
  for (const [index, json] of append.entries()) set.push(prefix + (keep + index), encode(json));
}

function refuseLarger(json: string, maxValueBytes: number, sessionId: string): void {
  if (json.length * 3 <= maxValueBytes) return; // no character takes more bytes
  const bytes = Buffer.byteLength(json);
  if (bytes > maxValueBytes) throw new SessionTooLargeError(sessionId, bytes, maxValueBytes);
}

function scoresOf(moves: readonly IndexMove[]): (number | '=' | '-')[] {
  let last: number | undefined;
  return moves.map(({ score }) => {
    if (score === undefined) return '-';
    const isSame = score === last;
    last = score;
    return isSame ? '=' : score;
  });
}
