import { executionIdOf } from '@holdfast/core/engine';
import type { AgentState, Message, ToolCallPart, ToolExecution } from '@holdfast/core';
import type { AssistantPart, ToolOutput, ToolResultPart } from '@holdfast/core/driver';
import type { DynamicToolUIPart, UIMessage } from 'ai';
import { approvalIdOf } from './approval-id.ts';

type Part = UIMessage['parts'][number];

/**
 * The conversation as `useChat` holds it. All that one execution added is one message with the execution's id, so
 * that a stream of the same execution replaces or continues it. The open step is part of it, unless a stream shows that step.
 */
export function toUiMessages(
  { messages, currentStep, executionId }: AgentState,
  { isRunning = false } = {},
): readonly UIMessage[] {
  const shown: UIMessage[] = [];
  const results = resultsIn(messages);
  for (const message of messages) {
    if (message.role === 'tool') continue;
    const parts = message.content.flatMap((part) => uiPart(part, (call) => finishedCall(call, results)));
    if (message.role === 'assistant') addStep(shown, executionIdOf(message) ?? message.id, parts);
    else shown.push({ id: message.id, role: message.role, parts: [...parts] });
  }
  if (isRunning || currentStep?.response === undefined || executionId === undefined) return shown;
  const { content } = currentStep.response;
  const parts = content.flatMap((part) =>
    uiPart(part, (call) => openCall(call, currentStep.executionOf(call.toolCallId))),
  );
  addStep(shown, executionId, parts);
  return shown;
}

/** Adds a step to its execution's message, and moves it behind later messages. */
function addStep(shown: UIMessage[], id: string, parts: readonly Part[]): void {
  const index = shown.findIndex((message) => message.id === id);
  const [known] = index === -1 ? [] : shown.splice(index, 1);
  shown.push({ id, role: 'assistant', parts: [...(known?.parts ?? []), { type: 'step-start' }, ...parts] });
}

type Results = ReadonlyMap<string, ToolResultPart>;

function resultsIn(messages: Iterable<Message>): Results {
  const results = new Map<string, ToolResultPart>();
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'tool-result') results.set(part.toolCallId, part);
  }
  return results;
}

function uiPart(part: AssistantPart, callPart: (call: ToolCallPart) => Part): readonly Part[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text === '' ? [] : [{ type: part.type, text: part.text, state: 'done' }];
    case 'tool-call':
      return [callPart(part)];
    default:
      return [];
  }
}

function finishedCall(call: ToolCallPart, results: Results): Part {
  return toolPart(shownCall(call), call.input, results.get(call.toolCallId)?.output);
}

/** A call of an open step without a run. */
function openCall(call: ToolCallPart, execution: ToolExecution | undefined): Part {
  const shown = { ...shownCall(call), input: execution?.args ?? call.input };
  if (execution?.outcome) return toolPart(shown, shown.input, execution.toResultPart().output);
  const id = execution && approvalIdOf(execution);
  if (id && execution.isAwaitingApproval) return { ...shown, state: 'approval-requested', approval: { id } };
  if (id && execution.isApproved)
    return { ...shown, state: 'approval-responded', approval: { id, approved: true } };
  return { ...shown, state: 'input-available' };
}

function shownCall({ toolCallId, toolName }: ToolCallPart): Call {
  return { type: 'dynamic-tool', toolCallId, toolName };
}

type Call = Pick<DynamicToolUIPart, 'type' | 'toolCallId' | 'toolName'>;

function toolPart(call: Call, input: unknown, output: ToolOutput | undefined): DynamicToolUIPart {
  if (output === undefined)
    return { ...call, state: 'output-error', input, errorText: 'No result was recorded.' };
  switch (output.type) {
    case 'error-text':
      return { ...call, state: 'output-error', input, errorText: output.value };
    case 'error-json':
      return { ...call, state: 'output-error', input, errorText: JSON.stringify(output.value) };
    case 'execution-denied': {
      const reason = output.reason ?? 'The call was denied.';
      return {
        ...call,
        state: 'output-denied',
        input,
        approval: { id: call.toolCallId, approved: false, reason },
      };
    }
    default:
      return { ...call, state: 'output-available', input, output: output.value };
  }
}
