import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { FilePart, Usage } from '@holdfast/core';
import type { AssistantPart, ReasoningFilePart } from '@holdfast/core/driver';
import { redactTelemetryValue } from '@ai-sdk/provider-utils';
import type { TelemetryEvent } from './integration.ts';

/** Returns the prompt in the form of an event: the leading system messages apart from the conversation. */
export function promptEvent(prompt: LanguageModelV4Prompt): TelemetryEvent {
  const first = prompt.findIndex(({ role }) => role !== 'system');
  const system = first < 0 ? prompt : prompt.slice(0, first);
  const only = system.length === 1 ? system[0] : undefined;
  const isText = only?.role === 'system' && only.providerOptions === undefined;
  const instructions = isText ? only.content : system;
  return {
    instructions: system.length === 0 ? undefined : instructions,
    messages: first < 0 ? [] : prompt.slice(first),
  };
}

/** Returns the tools of a call, without the credentials in the arguments of provider tools. */
export function toolsEvent(tools: LanguageModelV4CallOptions['tools']): readonly object[] | undefined {
  return tools?.map((tool) =>
    tool.type === 'provider' ? { ...tool, args: redactTelemetryValue(tool.args) } : tool,
  );
}

/** Returns the usage with the names of the AI SDK. */
export function usageEvent(usage: Usage): TelemetryEvent {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const isKnown = inputTokens !== undefined || outputTokens !== undefined;
  return {
    inputTokens,
    inputTokenDetails: {
      noCacheTokens: inputTokens && inputTokens - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0),
      cacheReadTokens,
      cacheWriteTokens,
    },
    outputTokens,
    outputTokenDetails: {
      textTokens: outputTokens && outputTokens - (reasoningTokens ?? 0),
      reasoningTokens,
    },
    totalTokens: isKnown ? (inputTokens ?? 0) + (outputTokens ?? 0) : undefined,
  };
}

/** Returns the parts of a response in the form of the AI SDK. */
export function contentEvent(content: readonly AssistantPart[]): readonly TelemetryEvent[] {
  return content.map(partEvent);
}

function partEvent(part: AssistantPart): TelemetryEvent {
  const { providerOptions: providerMetadata, ...rest } = part;
  const event = { ...rest, ...(providerMetadata && { providerMetadata }) };
  switch (part.type) {
    case 'tool-call':
      return { ...event, ...(part.invalid !== undefined && { invalid: true, error: part.invalid }) };
    case 'tool-result':
      return { ...event, output: part.output, providerExecuted: true };
    case 'file':
    case 'reasoning-file':
      return { ...event, file: fileEvent(part) };
    case 'source':
      return { ...event, ...part.source };
    default:
      return event;
  }
}

function fileEvent({ mediaType, data }: FilePart | ReasoningFilePart): TelemetryEvent {
  return data.type === 'data' ? { mediaType, base64: data.data } : { mediaType, ...data };
}
