import {
  textOf,
  type FilePart,
  type JsonValue,
  type LlmConfig,
  type Message,
  type ResponseFormat,
  type UserPart,
} from '@holdfast/core';
import {
  toolCallsOf,
  type AssistantPart,
  type InferenceRequest,
  type ToolChoice,
  type ToolDescription,
  type ToolOutput,
} from '@holdfast/core/driver';
import type { FetchDefect } from './fetch-defects.ts';

/** Returns the body of a call of chat completions. */
export function bodyOf(request: InferenceRequest, defects: ReadonlySet<FetchDefect>): object {
  const { systemPrompt, messages, tools, toolChoice, responseFormat, llmConfig } = request;
  const start = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }];
  return {
    messages: [...start, ...messages.toArray().flatMap((message) => messagesOf(message, defects))],
    ...settingsOf(llmConfig),
    ...(tools.length > 0 && { tools: tools.map(toolOf), tool_choice: choiceOf(toolChoice) }),
    ...formatOf(responseFormat),
  };
}

function settingsOf(config: LlmConfig = {}): object {
  const { model, maxOutputTokens, topP, presencePenalty, frequencyPenalty, stopSequences } = config;
  return {
    model,
    max_tokens: maxOutputTokens,
    temperature: config.temperature,
    top_p: topP,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    stop: stopSequences,
    seed: config.seed,
  };
}

function toolOf({ name, description, inputSchema }: ToolDescription): object {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function choiceOf(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.toolName } };
}

function formatOf(format: ResponseFormat | undefined): object {
  if (format?.type !== 'json') return {};
  const { schema, name = 'response' } = format;
  if (schema === undefined) return { response_format: { type: 'json_object' } };
  return { response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } } };
}

function messagesOf(message: Message, defects: ReadonlySet<FetchDefect>): readonly object[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: textOf(message) }];
    case 'user':
      return [{ role: 'user', content: message.content.map(userPartOf) }];
    case 'assistant':
      return [assistantMessageOf(message.content, defects)];
    case 'tool':
    default:
      return message.content.map(({ toolCallId, output }) => {
        return { role: 'tool', tool_call_id: toolCallId, content: resultOf(output) };
      });
  }
}

function userPartOf(part: UserPart): object {
  return part.type === 'text' ? { type: 'text', text: part.text } : fileOf(part);
}

function fileOf({ mediaType, data, filename }: FilePart): object {
  if (data.type !== 'data' && data.type !== 'url') throw new Error(`A file cannot be sent as ${data.type}.`);
  const url = data.type === 'url' ? data.url : `data:${mediaType};base64,${data.data}`;
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { filename: filename ?? 'file', file_data: url } };
}

function assistantMessageOf(content: readonly AssistantPart[], defects: ReadonlySet<FetchDefect>): object {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = toolCallsOf(content).map(({ toolCallId, toolName, input, invalid }) => {
    const isRaw = typeof input === 'string' && defects.has('sends invalid arguments again');
    const sent = isRaw ? input : argumentsOf(input, invalid);
    return { id: toolCallId, type: 'function', function: { name: toolName, arguments: sent } };
  });
  return { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** Returns JSON, because a provider refuses other arguments. */
const argumentsOf = (input: JsonValue, invalid: string | undefined): string =>
  JSON.stringify(invalid === undefined ? input : { text: input });

/** Returns a result. The protocol has no mark for errors, so they begin with a word. */
function resultOf(output: ToolOutput): unknown {
  switch (output.type) {
    case 'text':
      return output.value;
    case 'json':
      return JSON.stringify(output.value);
    case 'error-text':
      return `Error: ${output.value}`;
    case 'error-json':
      return `Error: ${JSON.stringify(output.value)}`;
    case 'execution-denied':
      return `The call was denied. ${output.reason ?? ''}`;
    case 'content':
    default:
      return output.value.flatMap((part) => (part.type === 'custom' ? [] : [userPartOf(part)]));
  }
}
