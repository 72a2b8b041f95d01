import type { Instant } from '../../clock.ts';
import { readFilledList, readInstant, readString, readVariant, shapeOf, type Read } from '../../document.ts';
import { namesOf } from '../../json.ts';
import { readErrorRecord, type ErrorRecord } from './error-record.ts';
import { SessionId, ToolExecutionId } from './ids.ts';

/**
 * An event that a suspended execution waits for: a decision, an answer, an instant, a child session, a message of a
 * person, or another call of the model. A `retry` without `until` waits until a caller executes `retry()`. At `failAt`
 * the execution fails. At the `until` of an `answer`, the call fails.
 */
export type Waiting =
  | { readonly type: 'approval'; readonly toolExecutionId: ToolExecutionId }
  | { readonly type: 'answer'; readonly toolExecutionId: ToolExecutionId; readonly until?: Instant }
  | { readonly type: 'until'; readonly until: Instant; readonly toolExecutionId?: ToolExecutionId }
  | { readonly type: 'child'; readonly sessionId: SessionId; readonly toolExecutionId?: ToolExecutionId }
  | {
      readonly type: 'retry';
      readonly error: ErrorRecord;
      readonly until?: Instant;
      readonly failAt?: Instant;
      readonly toolExecutionId?: ToolExecutionId;
    }
  | { readonly type: 'input' };

const WAITING = {
  approval: shapeOf({ type: readString, toolExecutionId: ToolExecutionId.read }),
  answer: shapeOf({ type: readString, toolExecutionId: ToolExecutionId.read, 'until?': readInstant }),
  until: shapeOf({ type: readString, until: readInstant, 'toolExecutionId?': ToolExecutionId.read }),
  child: shapeOf({ type: readString, sessionId: SessionId.read, 'toolExecutionId?': ToolExecutionId.read }),
  retry: shapeOf({
    type: readString,
    error: readErrorRecord,
    'until?': readInstant,
    'failAt?': readInstant,
    'toolExecutionId?': ToolExecutionId.read,
  }),
  input: shapeOf({ type: readString }),
};

export const WAITING_TYPES: readonly Waiting['type'][] = namesOf(WAITING);

const readWaiting: Read<Waiting> = readVariant('type', WAITING);

/** Reads a non-empty list of `waiting` entries. */
export const readWaitings: Read<readonly Waiting[]> = readFilledList(readWaiting);

/** The moments at which an entry wakes its session. */
export function momentsOfWaiting(waiting: Waiting): readonly Instant[] {
  if (waiting.type === 'until') return [waiting.until];
  if (waiting.type === 'answer') return waiting.until === undefined ? [] : [waiting.until];
  return waiting.type === 'retry' ? [waiting.until ?? [], waiting.failAt ?? []].flat() : [];
}
