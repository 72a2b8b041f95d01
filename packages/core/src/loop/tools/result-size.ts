import { HoldfastError } from '../../errors.ts';
import { remainingAfter } from './call-outcome.ts';
import { bytesOf, type JsonObject, type JsonValue } from '../../json.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import type { InferenceResponse } from '../../state/inference/inference-response.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { Metadata } from '../../state/values/metadata.ts';
import type { ToolOutcome } from '../../state/tools/tool-outcome.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';

/** The limits of what a step may store, in bytes of JSON. */
export interface ResultLimits {
  /** The limit of the outcome of one call. */
  readonly maxResultBytes: number;
  /**
   * Returns the room in the store for the outcomes and the progress of all calls of the open step. The response has as much
   * room. Absent: no limit.
   */
  readonly stepBytes: (() => number) | undefined;
}

/**
 * Returns the execution when its outcome fits, or else the execution with an outcome that states the size and the limit. A
 * call that succeeded has still succeeded. `others` are the executions of the step. The metadata of an outcome needs room
 * beside `metadata`, the metadata of the agent.
 */
export function fittedExecution(
  execution: ToolExecution,
  others: readonly ToolExecution[],
  metadata: Metadata,
  { maxResultBytes, stepBytes }: ResultLimits,
): ToolExecution {
  const { id, outcome, completedAt, progress, name } = execution;
  if (outcome === undefined || completedAt === undefined) return execution;
  if (stepBytes === undefined && boundOf(outcome, maxResultBytes) <= maxResultBytes) return execution;
  const addsMetadata = outcome.type === 'succeeded' && outcome.metadata !== undefined;
  const used = usedBy(others, id) + sizeOf(progress) + (addsMetadata ? sizeOf(metadata.toJSON()) : 0);
  const room = stepBytes === undefined ? Infinity : stepBytes() - used;
  const size = sizeOf(outcome);
  const limit = Math.max(0, Math.min(maxResultBytes, room));
  return size <= limit
    ? execution
    : execution.withCheckedOutcome(tooLarge(name, outcome, size, limit), completedAt);
}

/** Describes by how much the progress of a call is larger than the room beside the other calls of its step. */
export function excessOfProgress(
  { id, progress }: ToolExecution,
  others: readonly ToolExecution[],
  { stepBytes }: ResultLimits,
): string | undefined {
  if (stepBytes === undefined || progress === undefined) return undefined;
  const limit = Math.max(0, Math.floor(stepBytes() - usedBy(others, id)));
  const bytes = sizeOf(progress);
  return bytes <= limit ? undefined : sizeAndLimit(bytes, limit);
}

/** The equal share of each open call of a step in the room that the completed calls have left. */
export function shareOfCall({ toolExecutions, requestedToolCalls }: AgentStep, room: number): number {
  const completed = toolExecutions.filter(({ outcome }) => outcome !== undefined);
  const open = Math.max(1, requestedToolCalls.length - completed.length);
  return Math.max(0, (room - usedBy(completed)) / open);
}

/** The part of the room of a step that a response without calls may have: it needs none for results. */
const ANSWER_SHARE = 1.875;

/** Describes by how much a response is larger than the store takes; `undefined` for a response that fits. */
export function excessOf(
  { content, toolCalls }: InferenceResponse,
  { stepBytes }: ResultLimits,
): string | undefined {
  if (stepBytes === undefined) return undefined;
  const limit = Math.floor((toolCalls.length > 0 ? 1 : ANSWER_SHARE) * stepBytes());
  // The executions of the calls have the arguments again, and as they were checked.
  const bytes = sumOf(content, sizeOf) + 2 * sumOf(toolCalls, ({ input }) => sizeOf(input));
  return bytes <= limit ? undefined : sizeAndLimit(bytes, limit);
}

function usedBy(executions: readonly ToolExecution[], except?: string): number {
  return sumOf(executions, ({ id, outcome, progress }) =>
    id === except ? 0 : sizeOf(outcome) + sizeOf(progress),
  );
}

function sumOf<T>(items: readonly T[], size: (item: T) => number): number {
  return items.reduce((sum, item) => sum + size(item), 0);
}

const known = new WeakMap<object, number>();

/** The size of a frozen value in bytes of JSON. */
export function sizeOf(value: object | JsonValue | undefined): number {
  if (value === undefined) return 0;
  if (typeof value !== 'object' || value === null) return bytesOf(JSON.stringify(value));
  const size = known.get(value) ?? bytesOf(JSON.stringify(value));
  known.set(value, size);
  return size;
}

/** An upper bound of the size, as long as it is below the limit. */
function boundOf(value: object | JsonValue, limit: number): number {
  return limit - remainingAfter(value as JsonValue, limit);
}

/** The outcome in place of one that is too large. */
function tooLarge(name: string, outcome: ToolOutcome, bytes: number, limit: number): ToolOutcome {
  const size = sizeAndLimit(bytes, limit);
  if (outcome.type === 'succeeded') {
    const value = `Tool "${name}" was called and completed. Its result was not kept: it has ${size}.`;
    return Object.freeze({ type: 'succeeded', value });
  }
  const { code } = outcome.error;
  const message = `The error of tool "${name}"${code === undefined ? '' : ` (${code})`} was not kept: it has ${size}.`;
  return Object.freeze({
    type: outcome.type,
    error: toErrorRecord(tooLargeError(message, { bytes, limit })),
  });
}

function sizeAndLimit(bytes: number, limit: number): string {
  return `${bytes} bytes of JSON, and the limit is ${limit}`;
}

/** The error for a value that the store does not take. */
export function tooLargeError(message: string, data?: JsonObject): HoldfastError {
  return new HoldfastError('TOOL_RESULT_TOO_LARGE', message, { data });
}
