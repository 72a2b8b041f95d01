import { executionIdOf } from '@holdfast/core';
import type { AgentState, AssistantPart, Message, ToolOutput, ToolResultPart } from '@holdfast/core';
import type { DynamicToolUIPart, UIMessage } from 'ai';

type Part = UIMessage['parts'][number];

/**
 * The conversation as `useChat` holds it. All that one execution added is one message with the execution's id, so
 * that a stream of the same execution takes its place or goes on with it.
 */
export function toUiMessages({ messages }: AgentState): readonly UIMessage[] {
  const shown: UIMessage[] = [];
  const results = resultsIn(messages);
  for (const message of messages) {
    if (message.role === 'tool') continue;
    const parts = partsOf(message, results);
    const last = shown.at(-1);
    const id = executionIdOf(message) ?? message.id;
    if (message.role === 'assistant' && last?.id === id) last.parts.push({ type: 'step-start' }, ...parts);
    else if (message.role === 'assistant')
      shown.push({ id, role: 'assistant', parts: [{ type: 'step-start' }, ...parts] });
    else shown.push({ id: message.id, role: message.role, parts: [...parts] });
  }
  return shown;
}

type Results = ReadonlyMap<string, ToolResultPart>;

function resultsIn(messages: Iterable<Message>): Results {
  const results = new Map<string, ToolResultPart>();
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'tool-result') results.set(part.toolCallId, part);
  }
  return results;
}

function partsOf({ content }: Message, results: Results): readonly Part[] {
  return content.flatMap((part) => uiPart(part, results));
}

function uiPart(part: AssistantPart, results: Results): readonly Part[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text === '' ? [] : [{ type: part.type, text: part.text, state: 'done' }];
    case 'tool-call': {
      const { toolCallId, toolName, input } = part;
      return [
        toolPart({ type: 'dynamic-tool', toolCallId, toolName }, input, results.get(toolCallId)?.output),
      ];
    }
    default:
      return [];
  }
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
