import {
  pendingApprovals,
  pendingQuestions,
  type AgentState,
  type AgentStep,
  type ToolCallPart,
  type ToolExecution,
  type ToolOutcome,
} from '@holdfast/core';
import type { PartialResponse } from '@holdfast/core/channel';
import type { InferenceDelta } from '@holdfast/core/driver';
import { addContent, addStep, reasoningId } from './content-parts.ts';
import { approvalIdOf, resultState, toolPart, type ToolPartState } from './tool-part.ts';
import type { PartOptions, UIPart } from './ui-part.ts';

/** Adds the open step of a state at the end of a UI message. */
export function addOpenStep(
  parts: UIPart[],
  state: AgentState,
  partial: PartialResponse | undefined,
  options: PartOptions,
): void {
  const { currentStep } = state;
  addStep(parts, () => {
    if (currentStep?.response) addResponse(parts, state, currentStep, options);
    else if (partial && partial.stepId === currentStep?.id) addPartial(parts, partial, options);
  });
}

function addPartial(parts: UIPart[], partial: PartialResponse, options: PartOptions): void {
  for (const delta of partial.parts) {
    if (delta.type === 'tool-input') parts.push(streamingCall(delta, options));
    else if (delta.text !== '') parts.push(streamingText(delta, parts.length));
  }
}

type TextDelta = Exclude<InferenceDelta, { readonly type: 'tool-input' }>;

function streamingText({ type, text }: TextDelta, index: number): UIPart {
  if (type === 'text') return Object.freeze({ type, text, state: 'streaming' });
  return Object.freeze({ type, id: reasoningId(index), text, state: 'streaming' });
}

function streamingCall(
  { id, toolName, text }: Extract<InferenceDelta, { readonly type: 'tool-input' }>,
  options: PartOptions,
): UIPart {
  const rawInput = text === '' ? {} : { rawInput: text };
  return toolPart({ toolCallId: id, toolName }, { state: 'input-streaming', ...rawInput }, options);
}

function addResponse(parts: UIPart[], state: AgentState, step: AgentStep, options: PartOptions): void {
  const { id: stepId, response } = step;
  const stateOf = (call: ToolCallPart) => callState(call, step.executionOf(call.toolCallId), stepId);
  addContent(parts, response?.content ?? [], { ...options, stepId, stateOf });
  for (const execution of callsInside(state)) {
    // A subagent can have given its call the id of another call.
    const { id: toolCallId, call } = execution;
    const inside = { ...call, toolCallId };
    parts.push(toolPart(inside, callState(inside, execution, stepId), options));
  }
}

/** Returns the calls of subagents that wait for a person. */
function callsInside(state: AgentState): readonly ToolExecution[] {
  const executions = state.currentStep?.toolExecutions ?? [];
  if (executions.every(({ waitingInside }) => waitingInside.length === 0)) return [];
  const waiting = [...pendingApprovals(state), ...pendingQuestions(state)];
  return waiting.filter((execution) => !executions.includes(execution));
}

/** Returns the state of a call of an open step. With an outcome it is the state that the closed step will show. */
function callState(call: ToolCallPart, execution: ToolExecution | undefined, stepId: string): ToolPartState {
  if (execution?.outcome) return resultState(call.input, execution.toResultPart(), stepId);
  if (call.invalid !== undefined)
    return { state: 'output-error', input: call.input, errorText: call.invalid };
  const input = execution?.args ?? call.input;
  if (execution?.answer?.outcome) return answeredState(input, execution.answer.outcome);
  if (execution?.approval === undefined) return { state: 'input-available', input };
  const { decision, requestNumber } = execution.approval;
  const id = approvalIdOf(stepId, call.toolCallId, requestNumber);
  if (decision === undefined) return { state: 'approval-requested', input, approval: { id } };
  const { reason } = decision;
  const approval = { id, approved: true as const, ...(reason !== undefined && { reason }) };
  return { state: 'approval-responded', input, approval };
}

/** Returns the state of a call that has its answer. The loop records its result when a worker continues. */
function answeredState(input: unknown, outcome: ToolOutcome): ToolPartState {
  return outcome.type === 'succeeded'
    ? { state: 'output-available', input, output: outcome.value }
    : { state: 'output-error', input, errorText: outcome.error.message };
}
