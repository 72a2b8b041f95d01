import { HoldfastError } from '../../errors.ts';
import { remainingAfter } from './call-outcome.ts';
import { bytesOf, toJsonValue, type JsonValue } from '../../json.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { ToolOutcome } from '../../state/tools/tool-outcome.ts';
import { NOTHING } from '../../state/values/frozen-array.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';

/** The limits of what the calls of a step may store, in bytes of JSON. */
export interface ResultLimits {
  /** The limit of the outcome of one call. */
  readonly maxResultBytes: number;
  /** The limit of the outcomes of all calls of one step. */
  readonly maxStepBytes: number;
}

/** Outcomes up to this size are not measured: their size is estimated from above. */
const SMALL_BYTES = 4_096;

/** Keeps the outcomes of the calls of one step within the limits of what a store takes. */
export class ResultRoom {
  private readonly limits: ResultLimits;
  /** The sizes of the outcomes of the step, by the id of the execution. */
  private sizes: Map<string, number> | undefined;

  constructor(limits: ResultLimits) {
    this.limits = limits;
  }

  /**
   * Returns the execution when its outcome fits, or else the execution with an outcome that states the size and the limit. A
   * call that succeeded has still succeeded. `others` are the executions of the step.
   */
  fitted(execution: ToolExecution, others: readonly ToolExecution[]): ToolExecution {
    const { outcome, completedAt } = execution;
    if (outcome === undefined || completedAt === undefined) return execution;
    const { maxResultBytes, maxStepBytes } = this.limits;
    const isAlone = maxStepBytes === Infinity;
    if (isAlone && boundOf(outcome, maxResultBytes) <= maxResultBytes) return execution;
    this.sizes ??= sizesOf(isAlone ? NOTHING : others);
    this.sizes.delete(execution.id);
    const size = sizeOf(outcome);
    const used = [...this.sizes.values()].reduce((sum, one) => sum + one, 0);
    const limit = Math.max(0, Math.min(maxResultBytes, maxStepBytes - used));
    const kept = size <= limit ? outcome : tooLarge(execution.name, outcome, size, limit);
    this.sizes.set(execution.id, kept === outcome ? size : sizeOf(kept));
    return kept === outcome ? execution : execution.withCheckedOutcome(kept, completedAt);
  }
}

function sizesOf(executions: readonly ToolExecution[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { id, outcome } of executions) if (outcome) sizes.set(id, sizeOf(outcome));
  return sizes;
}

/** The size of an outcome in bytes of JSON, or an upper bound when it is small. */
function sizeOf(outcome: ToolOutcome): number {
  const bound = boundOf(outcome, SMALL_BYTES);
  return bound <= SMALL_BYTES ? bound : bytesOf(JSON.stringify(outcome));
}

/** An upper bound of the size, as long as it is below the limit. */
function boundOf(outcome: ToolOutcome, limit: number): number {
  return limit - remainingAfter(outcome as unknown as JsonValue, limit);
}

/** The outcome in place of one that is too large. */
function tooLarge(name: string, outcome: ToolOutcome, bytes: number, limit: number): ToolOutcome {
  const size = `${bytes} bytes of JSON, and the limit is ${limit}`;
  if (outcome.type === 'succeeded') {
    const value = `Tool "${name}" was called and completed. Its result was not kept: it has ${size}.`;
    return Object.freeze({ type: 'succeeded', value });
  }
  const { code } = outcome.error;
  const message = `The error of tool "${name}"${code === undefined ? '' : ` (${code})`} was not kept: it has ${size}.`;
  const data = toJsonValue({ bytes, limit });
  return Object.freeze({
    type: outcome.type,
    error: toErrorRecord(new HoldfastError('TOOL_RESULT_TOO_LARGE', message, { data })),
  });
}
