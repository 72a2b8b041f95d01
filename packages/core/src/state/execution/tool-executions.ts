import { invalidArgument } from '../../errors.ts';
import { concatExact, some } from '../values/frozen-array.ts';
import type { ToolExecutionId } from '../values/ids.ts';
import type { ToolCallPart } from '../messages/messages.ts';
import type { Metadata } from '../metadata.ts';
import type { ToolExecution } from './tool-execution.ts';

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * The executions of a step with others added, or put in the place of those with their ids: in the order of the calls.
 * The same list when nothing differs. Costs what there are of both, when they are in one order.
 * @throws RangeError `ARGUMENT_INVALID` for a second execution of one call.
 */
export function putExecutions(
  executions: readonly ToolExecution[],
  put: readonly ToolExecution[],
  calls: readonly ToolCallPart[],
): readonly ToolExecution[] {
  const result = concatExact(executions, NOTHING);
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

/** Is an execution of the call at a place, and the one before it of the call before? */
function areCallsAt(
  calls: readonly ToolCallPart[],
  place: number,
  before: ToolExecution | undefined,
  execution: ToolExecution,
): boolean {
  if (calls[place]?.toolCallId !== execution.call.toolCallId) return false;
  return calls[place - 1]?.toolCallId === before?.call.toolCallId;
}

/** Requested calls that have no execution. Costs what there are of both, when they are in one order. */
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

/** The execution of a call. `place`: where it is looked for first. */
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

/** The execution with an id. `place`: where it is looked for first. */
export function executionWithId(
  executions: readonly ToolExecution[],
  id: ToolExecutionId,
  place = 0,
): ToolExecution | undefined {
  return executions[indexOfExecution(executions, id, place)];
}

/** Where the execution with an id stands; -1 when there is none. `place`: where it is looked for first. */
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
    const wayOut = 'A further attempt is withNextAttempt() of that one.';
    throw invalidArgument(`The call "${call.toolCallId}" has the execution ${other} already. ${wayOut}`);
  }
}

function inCallOrder(executions: readonly ToolExecution[], calls: readonly ToolCallPart[]): ToolExecution[] {
  // Reversed: of two calls of one id, as only a document of others has them, the first counts.
  const ranks = new Map(calls.map(({ toolCallId }, rank) => [toolCallId, rank] as const).toReversed());
  const rankOf = ({ call }: ToolExecution): number => ranks.get(call.toolCallId) ?? calls.length;
  return executions.toSorted((left, right) => rankOf(left) - rankOf(right));
}

/** Metadata with what calls have set in it, in their order. */
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
