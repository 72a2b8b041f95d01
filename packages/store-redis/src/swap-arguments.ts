import { SessionTooLargeError } from '@holdfast/core';
import type { RecordChange, SessionRecord } from '@holdfast/core';
import type { RedisArgument } from './redis-client.ts';
import type { RedisKeys } from './redis-keys.ts';
import { toName } from './session-hash.ts';
import { indexScores } from './session-indexes.ts';
import { encodeValue } from './value-codec.ts';

/** One swap, as `SessionBackend` asks for it. */
export interface Swap {
  readonly sessionId: string;
  readonly before: SessionRecord | undefined;
  readonly after: SessionRecord | undefined;
  readonly change: RecordChange;
  /** Names the swap over all its sendings; 12 characters. */
  readonly token: string;
  /** When the server removes the hash by itself. */
  readonly removeAt: number | undefined;
}

/** What a script is called with. */
export interface ScriptInput {
  readonly keys: readonly string[];
  readonly args: readonly RedisArgument[];
}

/**
 * What the script is called with. Its arguments: the token; incarnation and writes before; the mode; the incarnation
 * after where it is another one, and the writes; when the hash is removed; for each index which entry goes and which
 * comes, as places from 1, or 0 for none; how many of the following there are: fields that are set, with their values, fields that go, and of each list
 * how many elements stay and how many follow on its name; last, the entries of indexes.
 * @throws SessionTooLargeError for a value beyond `maxValueBytes`.
 */
export function swapInput(swap: Swap, keys: RedisKeys, maxValueBytes: number): ScriptInput {
  const { sessionId, before, after, change, token } = swap;
  const lists = change.plan?.lists ?? [];
  const encode = (json: string): string | Buffer => {
    const bytes = Buffer.byteLength(json);
    if (bytes > maxValueBytes) throw new SessionTooLargeError(sessionId, bytes, maxValueBytes);
    return encodeValue(json);
  };
  const moves = indexMoves(swap, keys);
  const { set, gone } = fieldChanges(swap, encode);
  const mode = modeOf(swap);
  const sizes = [set.length, gone.length, ...lists.flatMap(({ keep, append }) => [keep, append.length])];
  return {
    keys: [keys.session(sessionId), ...moves.keys],
    args: [
      token,
      before?.incarnation ?? '',
      before?.writes ?? '',
      mode,
      mode === 'new' ? (after?.incarnation ?? '') : '',
      after?.writes ?? '',
      removalOf(swap),
      moves.scores.join(' '),
      sizes.join(' '),
      ...set,
      ...gone,
      ...lists.flatMap(({ name, append }) => [toName(name), ...append.map(encode)]),
    ],
  };
}

/** When the server removes the hash; nothing where it never does and never did. */
function removalOf({ before, removeAt }: Swap): number | 'persist' | '' {
  return removeAt ?? (before?.expiresAt === undefined ? '' : 'persist');
}

/** What remains of what was there: nothing, the inbox, or all but what the plan changes. */
function modeOf({ before, after, change }: Swap): 'delete' | 'new' | 'whole' | 'keep' {
  if (after === undefined) return 'delete';
  if (before?.incarnation !== after.incarnation) return 'new';
  return change.plan?.isWhole ? 'whole' : 'keep';
}

interface FieldChanges {
  /** Fields and values in turn. */
  readonly set: RedisArgument[];
  readonly gone: string[];
}

function fieldChanges({ after, change }: Swap, encode: (json: string) => string | Buffer): FieldChanges {
  const { plan, enqueue, acknowledge = [] } = change;
  const changes: FieldChanges = { set: [], gone: [] };
  // Of what a record says only the ids of the inbox can be many: a full one is still worked on.
  if (after) changes.set.push('r', (enqueue ? encode : encodeValue)(JSON.stringify(after)));
  if (plan) changes.set.push('h', encode(plan.head));
  for (const [name, json] of plan?.values ?? []) {
    const field = `v:${toName(name)}`;
    if (json === undefined) changes.gone.push(field);
    else changes.set.push(field, encode(json));
  }
  if (enqueue) changes.set.push(`q:${toName(enqueue.id)}`, encode(enqueue.item));
  changes.gone.push(...acknowledge.map((id) => `q:${toName(id)}`));
  return changes;
}

interface IndexMoves {
  readonly keys: string[];
  /** For each key. */
  readonly scores: (number | '=' | '-')[];
}

function indexMoves({ sessionId, before, after }: Swap, keys: RedisKeys): IndexMoves {
  const [old, now] = [before, after].map((record) => record && indexScores(record));
  const moves: IndexMoves = { keys: [], scores: [] };
  const bucket = keys.bucketOf(sessionId);
  let last: number | undefined;
  for (const index of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    const score = now?.get(index);
    if (score === old?.get(index)) continue;
    moves.keys.push(keys.index(bucket, index));
    moves.scores.push(score === undefined ? '-' : score === last ? '=' : score);
    last = score ?? last;
  }
  return moves;
}
