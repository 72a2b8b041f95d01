import { pendingApprovals } from '@holdfast/core';
import type { AgentEvent, AgentState, ToolCallPart, ToolExecution } from '@holdfast/core';
import type { AssistantPart, InferenceDelta, InferenceResponse, ToolResultPart } from '@holdfast/core/driver';
import type { FinishReason, UIMessageChunk } from 'ai';
import { approvalIdOf } from './approval-id.ts';

/** The progress of a UI message stream, on which the next chunks depend. */
export interface StreamProgress {
  /** The text or reasoning part that is growing. */
  readonly open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined;
  /** The parts and calls that the open step has begun to show, by id. */
  readonly shown: ReadonlySet<string>;
}

/** A stream that has shown nothing. */
export const nothingStreamed: StreamProgress = { open: undefined, shown: new Set() };

/** Chunks, and how far the stream has got after them. */
export interface Streamed {
  readonly progress: StreamProgress;
  readonly chunks: readonly UIMessageChunk[];
}

/**
 * The chunks of the AI SDK's UI message stream for one event of a run. One execution is one message, whose id is that
 * of the execution; its steps are the steps of the message. Events that a message does not show give no chunks.
 */
export function toUiChunks(event: AgentEvent, progress: StreamProgress): Streamed {
  switch (event.type) {
    case 'execution-started':
    case 'execution-resumed':
      return said(nothingStreamed, startChunk(event.state.executionId));
    case 'step-started':
      return said({ open: undefined, shown: new Set() }, { type: 'start-step' });
    case 'inference-delta':
      return deltaChunks(event.delta, event.stepId, progress);
    case 'inference-completed':
      return responseChunks(event.response, event.stepId, progress);
    case 'tool-completed':
    case 'tool-blocked':
      return said(progress, ...outcomeChunks(event.toolExecution));
    case 'step-completed':
      return said(progress, ...endOf(progress.open), ...unansweredChunks(event.stepExecution.step), {
        type: 'finish-step',
      });
    case 'execution-suspended':
      return said(progress, ...endOf(progress.open), ...approvalChunks(event.state), ...endChunks(event));
    case 'execution-completed':
    case 'execution-stopped':
      return said(progress, ...endOf(progress.open), ...endChunks(event));
    case 'execution-failed':
      return said(progress, ...endOf(progress.open), { type: 'error', errorText: failureOf(event.state) });
    default:
      return said(progress);
  }
}

function said(progress: StreamProgress, ...chunks: readonly UIMessageChunk[]): Streamed {
  return { progress, chunks };
}

function startChunk(executionId: string | undefined): UIMessageChunk {
  return { type: 'start', ...(executionId !== undefined && { messageId: executionId }) };
}

function deltaChunks(delta: InferenceDelta, stepId: string, progress: StreamProgress): Streamed {
  const id = `${stepId}:${delta.id}`;
  const isNew = !progress.shown.has(delta.type === 'tool-input' ? delta.id : id);
  if (delta.type === 'tool-input') {
    const { id: toolCallId, toolName, text } = delta;
    const start: UIMessageChunk = { type: 'tool-input-start', toolCallId, toolName, dynamic: true };
    const chunk: UIMessageChunk = { type: 'tool-input-delta', toolCallId, inputTextDelta: text };
    const next = { open: undefined, shown: new Set([...progress.shown, toolCallId]) };
    return said(next, ...endOf(progress.open), ...(isNew ? [start] : []), chunk);
  }
  const { type, text } = delta;
  const isOpen = progress.open?.id === id && progress.open.type === type;
  const begin: UIMessageChunk[] = isOpen ? [] : [...endOf(progress.open), { type: `${type}-start`, id }];
  const next = isOpen ? progress : { open: { type, id }, shown: new Set([...progress.shown, id, type]) };
  return said(next, ...begin, { type: `${type}-delta`, id, delta: text });
}

function endOf(open: StreamProgress['open']): readonly UIMessageChunk[] {
  return open ? [{ type: `${open.type}-end`, id: open.id }] : [];
}

/** The answer is complete: text that was not streamed follows in one piece, and calls have their arguments. */
function responseChunks(response: InferenceResponse, stepId: string, progress: StreamProgress): Streamed {
  const chunks = response.content.flatMap((part, index) =>
    partChunks(part, `${stepId}:part-${index}`, progress),
  );
  return said({ ...progress, open: undefined }, ...endOf(progress.open), ...chunks);
}

/** The chunks of a part that has arrived in full; text and reasoning that were streamed are not repeated. */
function partChunks(part: AssistantPart, id: string, { shown }: StreamProgress): readonly UIMessageChunk[] {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const { type, text } = part;
      if (text === '' || shown.has(type)) return [];
      return [
        { type: `${type}-start`, id },
        { type: `${type}-delta`, id, delta: text },
        { type: `${type}-end`, id },
      ];
    }
    case 'tool-call':
      return [callChunk(part)];
    case 'tool-result':
      return [providerResultChunk(part)];
    default:
      return [];
  }
}

function providerResultChunk({ toolCallId, output }: ToolResultPart): UIMessageChunk {
  const result = { toolCallId, providerExecuted: true, dynamic: true };
  if (output.type === 'error-text') return { type: 'tool-output-error', ...result, errorText: output.value };
  const value = 'value' in output ? output.value : null;
  if (output.type !== 'error-json') return { type: 'tool-output-available', ...result, output: value };
  return { type: 'tool-output-error', ...result, errorText: JSON.stringify(value) };
}

function callChunk({ toolCallId, toolName, input, invalid, providerExecuted }: ToolCallPart): UIMessageChunk {
  const call = { toolCallId, toolName, input, dynamic: true, ...(providerExecuted && { providerExecuted }) };
  if (invalid === undefined) return { type: 'tool-input-available', ...call };
  return { type: 'tool-input-error', ...call, errorText: invalid };
}

function approvalChunks(state: AgentState): readonly UIMessageChunk[] {
  return pendingApprovals(state).map((execution): UIMessageChunk => ({
    type: 'tool-approval-request',
    approvalId: approvalIdOf(execution),
    toolCallId: execution.call.toolCallId,
  }));
}

/** The chunks with the outcome of a call so far, for a reader that has the call. */
export function progressChunks(execution: ToolExecution): readonly UIMessageChunk[] {
  const { call, outcome, isApproved } = execution;
  if (outcome || !isApproved) return outcomeChunks(execution);
  const approvalId = approvalIdOf(execution);
  return [
    { type: 'tool-approval-request', approvalId, toolCallId: call.toolCallId },
    { type: 'tool-approval-response', approvalId, approved: true },
  ];
}

function outcomeChunks(execution: ToolExecution): readonly UIMessageChunk[] {
  const { outcome } = execution;
  const { toolCallId } = execution.call;
  if (outcome === undefined) return [];
  const approvalId = approvalIdOf(execution);
  switch (outcome.type) {
    case 'succeeded':
      return [{ type: 'tool-output-available', toolCallId, output: outcome.value, dynamic: true }];
    case 'blocked':
    case 'denied':
      return [
        { type: 'tool-approval-request', approvalId, toolCallId, isAutomatic: true },
        { type: 'tool-approval-response', approvalId, approved: false, reason: outcome.error.message },
        { type: 'tool-output-denied', toolCallId },
      ];
    default:
      return [{ type: 'tool-output-error', toolCallId, errorText: outcome.error.message, dynamic: true }];
  }
}

/** Calls that were not started, because the run ended before. */
function unansweredChunks({ pendingToolCalls }: { readonly pendingToolCalls: readonly ToolCallPart[] }) {
  return pendingToolCalls.map(({ toolCallId }): UIMessageChunk => ({
    type: 'tool-output-error',
    toolCallId,
    errorText: 'Not run: the execution stopped.',
    dynamic: true,
  }));
}

function endChunks({ type, state }: AgentEvent): readonly UIMessageChunk[] {
  const isAbort = type === 'execution-stopped' && state.stopReason === 'userRequested';
  if (isAbort) return [{ type: 'abort', reason: state.stopSignal?.message ?? 'The run was stopped.' }];
  return [{ type: 'finish', finishReason: finishReasonOf(state.lastStep?.response?.finishReason) }];
}

function finishReasonOf(reason: InferenceResponse['finishReason'] | undefined): FinishReason {
  return reason === undefined || reason === 'aborted' ? 'other' : reason;
}

function failureOf({ errors, stopSignal }: AgentEvent['state']): string {
  return errors.at(-1)?.message ?? stopSignal?.message ?? 'The run failed.';
}
