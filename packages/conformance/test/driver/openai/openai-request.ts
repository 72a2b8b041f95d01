import type { ProviderRequest, SentFile, SentPart } from '@holdfast/conformance';
import type { JsonObject, LlmConfig } from '@holdfast/core';
import type { ToolChoice } from '@holdfast/core/driver';

type OpenAiPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'file'; readonly file: { readonly file_data: string } };

interface OpenAiMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: string | null | readonly OpenAiPart[];
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

type OpenAiToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } };

/** The body of a request to the chat completions of OpenAI. */
export interface OpenAiBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly messages: readonly OpenAiMessage[];
  readonly tools?: readonly {
    readonly function: {
      readonly name: string;
      readonly description: string;
      readonly parameters: JsonObject;
    };
  }[];
  readonly tool_choice?: OpenAiToolChoice;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly name?: string; readonly schema?: JsonObject };
  };
  readonly [name: string]: unknown;
}

const SETTINGS: Readonly<Record<string, keyof LlmConfig>> = {
  model: 'model',
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  stop: 'stopSequences',
  seed: 'seed',
};

/** The beginning of a result that the driver marks as an error, where the protocol has no mark. */
const ERROR = 'Error: ';

/** Returns a request as the cases see it. */
export function understood(body: OpenAiBody): ProviderRequest {
  const { tools = [], response_format: format } = body;
  const settings = Object.entries(body).flatMap(([name, value]) => {
    const known = SETTINGS[name];
    return known === undefined ? [] : [[known, value] as const];
  });
  return {
    content: body.messages.flatMap(partsOf),
    tools: tools.map(({ function: { name, description, parameters } }) => {
      return { name, description, inputSchema: parameters };
    }),
    toolChoice: choiceOf(body.tool_choice),
    responseFormat: format?.type.startsWith('json')
      ? { schema: format.json_schema?.schema, name: format.json_schema?.name }
      : undefined,
    settings: Object.fromEntries(settings),
  };
}

function choiceOf(choice: OpenAiToolChoice | undefined): ToolChoice | undefined {
  return typeof choice === 'object' ? { toolName: choice.function.name } : choice;
}

function partsOf({
  role,
  content,
  tool_calls: calls = [],
  tool_call_id: id,
}: OpenAiMessage): readonly SentPart[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : (content ?? []);
  if (role === 'tool') return [resultOf(id ?? '', parts)];
  const speaker = role === 'developer' ? 'system' : role; // the role `system` in newer models of OpenAI
  return [
    ...parts.flatMap((part): readonly SentPart[] => {
      if (part.type !== 'text') return [{ type: 'file', ...fileOf(part) }];
      return part.text === '' ? [] : [{ type: 'text', role: speaker, text: part.text }];
    }),
    ...calls.map((call) => {
      const { name, arguments: text } = call.function;
      return { type: 'call', id: call.id, name, arguments: text } as const;
    }),
  ];
}

function resultOf(id: string, parts: readonly OpenAiPart[]): SentPart {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const files = parts.flatMap((part) => (part.type === 'text' ? [] : [fileOf(part)]));
  const isError = text.startsWith(ERROR);
  return { type: 'result', id, text, isError, ...(files.length > 0 && { files }) };
}

function fileOf(part: Exclude<OpenAiPart, { type: 'text' }>): SentFile {
  const url = part.type === 'file' ? part.file.file_data : part.image_url.url;
  const [, mediaType, data] = /^data:([^;]*);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? { url } : { mediaType, data };
}
