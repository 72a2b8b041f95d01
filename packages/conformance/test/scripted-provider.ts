import type { InferenceRequest, MessagePart } from '@holdfast/core/driver';
import { DriverError } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import type { CreateDriver, ProviderReply, ProviderRequest } from '@holdfast/conformance';

function scripted(reply: ProviderReply): ScriptedAnswer {
  if (reply.type === 'refusal') return new DriverError('authentication', 'The key is wrong.');
  if (reply.type === 'silence') {
    return (_, { signal }) =>
      new Promise((_resolve, reject) => {
        reply.onAsked();
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
  }
  const { text = '', calls = [], usage, finishReason } = reply;
  return {
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ id, name, input }) => {
        return { type: 'tool-call', toolCallId: id, toolName: name, input } as const;
      }),
    ],
    usage,
    ...(finishReason && { finishReason }),
  };
}

function said(part: MessagePart, role: string): string {
  if (part.type === 'text') return `${role} ${part.text}`;
  if (part.type === 'tool-call') return `call ${part.toolCallId} ${part.toolName}`;
  if (part.type !== 'tool-result') return part.type;
  const value = 'value' in part.output ? part.output.value : '';
  return `result ${part.toolCallId} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

function understood({ systemPrompt, messages, tools, responseFormat }: InferenceRequest): ProviderRequest {
  const parts = messages.toArray().flatMap(({ role, content }) => content.map((part) => said(part, role)));
  return {
    said: systemPrompt === undefined ? parts : [`system ${systemPrompt}`, ...parts],
    tools: tools.map(({ name }) => name),
    schema: responseFormat?.type === 'json' ? responseFormat.schema : undefined,
  };
}

/** Creates a driver of core that plays a script. The driver is its own provider. */
export const createDriver: CreateDriver = async (script) => {
  const driver = scriptedDriver(...script.map(scripted));
  return { driver, requests: () => driver.requests.map(understood), close: async () => undefined };
};
