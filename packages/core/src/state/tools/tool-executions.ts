import { invalidArgument } from '../../errors.ts';
import { joined, NOTHING, some } from '../values/frozen-array.ts';
import type { ToolExecutionId } from '../values/ids.ts';
import type { ToolCallPart } from '../messages/messages.ts';
import type { Metadata } from '../values/metadata.ts';
import type { ToolExecution } from './tool-execution.ts';

/**
 * Returns the executions of a step with others added, or replaced by id, in the order of the calls. Returns the same
 * list when nothing changes. The cost is linear when both lists have the same order.
 * @throws RangeError `ARGUMENT_INVALID` for a second execution of one call.
 */
export function putExecutions(
  executions: readonly ToolExecution[],
  put: readonly ToolExecution[],
  calls: readonly ToolCallPart[],
): readonly ToolExecution[] {
  const result = joined(executions, NOTHING);
  let place = 0;
  let [isSame, hasOtherCalls, isInOrder] = [true, false, true];
  for (const execution of put) {
    const found = indexOfExecution(executions, execution.id, place);
    const at = found < 0 ? result.length : found;
    const known = result[at];
    place = at + 1;
    if (known === execution) continue;
    const { toolCallId } = execution.call;
    isSame = false;
    hasOtherCalls ||= known?.call.toolCallId !== toolCallId;
    isInOrder &&= known !== undefined || at === 0 || areCallsAt(calls, at, result[at - 1], execution);
    result[at] = execution;
  }
  if (isSame) return executions;
  if (hasOtherCalls && result.length > 1) requireDistinctCalls(result);
  return Object.freeze(isInOrder ? result : inCallOrder(result, calls));
}

/** True when the execution belongs to the call at an index, and the execution before it to the call before. */
function areCallsAt(
  calls: readonly ToolCallPart[],
  place: number,
  before: ToolExecution | undefined,
  execution: ToolExecution,
): boolean {
  if (calls[place]?.toolCallId !== execution.call.toolCallId) return false;
  return calls[place - 1]?.toolCallId === before?.call.toolCallId;
}

/** Returns the requested calls without an execution. The cost is linear when both lists have the same order. */
export function callsWithout(
  executions: readonly ToolExecution[],
  calls: readonly ToolCallPart[],
): readonly ToolCallPart[] {
  if (calls.length === 0 || executions.length === 0) return calls;
  let met = 0;
  while (met < calls.length && executions[met]?.call.toolCallId === calls[met]?.toolCallId) met++;
  return met === calls.length ? NOTHING : callsWithoutAny(executions, calls);
}

function callsWithoutAny(
  executions: readonly ToolExecution[],
  calls: readonly ToolCallPart[],
): readonly ToolCallPart[] {
  const known = new Set(executions.map(({ call }) => call.toolCallId));
  return calls.filter(({ toolCallId }) => !known.has(toolCallId));
}

/** Returns the execution of a call. The search begins at `place`. */
export function executionOf(
  executions: readonly ToolExecution[],
  toolCallId: string,
  place = 0,
): ToolExecution | undefined {
  const likely = executions[place];
  if (likely?.call.toolCallId === toolCallId) return likely;
  for (let at = 0; at < executions.length; at++) {
    if (executions[at]?.call.toolCallId === toolCallId) return executions[at];
  }
  return undefined;
}

/** Returns the execution with an id. The search begins at `place`. */
export function executionWithId(
  executions: readonly ToolExecution[],
  id: ToolExecutionId,
  place = 0,
): ToolExecution | undefined {
  return executions[indexOfExecution(executions, id, place)];
}

/** Returns the index of the execution with an id, or -1. The search begins at `place`. */
export function indexOfExecution(
  executions: readonly ToolExecution[],
  id: ToolExecutionId,
  place = 0,
): number {
  if (executions[place]?.id === id) return place;
  for (let at = 0; at < executions.length; at++) if (executions[at]?.id === id) return at;
  return -1;
}

function requireDistinctCalls(executions: readonly ToolExecution[]): void {
  const byCall = new Map<string, ToolExecutionId>();
  for (const { id, call } of executions) {
    const other = byCall.get(call.toolCallId);
    byCall.set(call.toolCallId, id);
    if (other === undefined) continue;
    const wayOut = 'Use its withNextAttempt() for another attempt.';
    throw invalidArgument(`The call "${call.toolCallId}" already has the execution ${other}. ${wayOut}`);
  }
}

function inCallOrder(executions: readonly ToolExecution[], calls: readonly ToolCallPart[]): ToolExecution[] {
  // Reversed, so that the first of two calls with the same id counts. Only foreign documents have such calls.
  const ranks = new Map(calls.map(({ toolCallId }, rank) => [toolCallId, rank] as const).toReversed());
  const rankOf = ({ call }: ToolExecution): number => ranks.get(call.toolCallId) ?? calls.length;
  return executions.toSorted((left, right) => rankOf(left) - rankOf(right));
}

/** Returns metadata with the values that successful calls set, in their order. */
export function metadataAfter(metadata: Metadata, executions: readonly ToolExecution[]): Metadata {
  if (!some(executions, setsMetadata)) return metadata;
  let changed = metadata;
  for (const { outcome } of executions) {
    if (outcome?.type !== 'succeeded' || outcome.metadata === undefined) continue;
    for (const [name, value] of Object.entries(outcome.metadata)) changed = changed.with(name, value);
  }
  return changed;
}

function setsMetadata({ outcome }: ToolExecution): boolean {
  return outcome?.type === 'succeeded' && outcome.metadata !== undefined;
}
