import type { AgentState, ExecutionStatus, Usage } from '@holdfast/core';
import type { UsageFields } from '@holdfast/core/driver';
import type { ExecutionSummary } from '@holdfast/core/store';

/** Facts about an execution, as metadata of its UI message. A number that is unknown is `null`. */
export interface ExecutionMetadata {
  /** `suspended` while the execution waits for a person or an event. */
  readonly status: ExecutionStatus;
  /** The model of the last step; `null` when it is unknown. */
  readonly model: string | null;
  /** The tokens of all calls of models. */
  readonly usage: {
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    /** The part of the input that the provider read from its cache. */
    readonly cacheReadTokens: number | null;
    /** The part of the input that the provider wrote to its cache. */
    readonly cacheWriteTokens: number | null;
    /** The part of the output that was reasoning. */
    readonly reasoningTokens: number | null;
  };
  /** US dollars. */
  readonly cost: number | null;
}

/** Returns the metadata of a state's execution; `undefined` without an execution. */
export function executionMetadata(state: AgentState): ExecutionMetadata | undefined {
  const { execution, status } = state;
  if (execution === undefined || status === undefined) return undefined;
  return metadataFor(status, modelOf(state), execution.usage);
}

/** Returns the metadata of an execution whose record is gone. The summary does not have the model. */
export function summaryMetadata({ status, usage }: ExecutionSummary): ExecutionMetadata {
  return metadataFor(status, null, usage);
}

function modelOf(state: AgentState): string | null {
  const step = state.execution?.latestStep;
  if (step === undefined) return null;
  return step.response?.modelId ?? state.requestOf(step).model ?? null;
}

function metadataFor(
  status: ExecutionStatus,
  model: string | null,
  usage: Usage | UsageFields,
): ExecutionMetadata {
  return {
    status,
    model,
    usage: {
      inputTokens: usage.inputTokens ?? null,
      outputTokens: usage.outputTokens ?? null,
      cacheReadTokens: usage.cacheReadTokens ?? null,
      cacheWriteTokens: usage.cacheWriteTokens ?? null,
      reasoningTokens: usage.reasoningTokens ?? null,
    },
    cost: usage.cost ?? null,
  };
}
