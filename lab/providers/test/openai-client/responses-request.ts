import type { ProviderRequest, SentFile, SentPart } from '@holdfast/conformance';
import type { JsonObject, LlmConfig } from '@holdfast/core';
import type { ToolChoice, ToolDescription } from '@holdfast/core/driver';
import type { Responses } from 'openai/resources/responses/responses';

/** The body of a request. */
type SentBody = Responses.ResponseCreateParams;

/** Returns a request as the cases see it. */
export function understood(body: SentBody): ProviderRequest {
  const { instructions, input = [], tools = [], text } = body;
  const start: SentPart[] = instructions ? [{ type: 'text', role: 'system', text: instructions }] : [];
  return {
    content: typeof input === 'string' ? start : [...start, ...input.flatMap(partsOf)],
    tools: tools.flatMap(toolOf),
    toolChoice: choiceOf(body.tool_choice),
    responseFormat: formatOf(text?.format),
    settings: settingsOf(body),
  };
}

function settingsOf(body: SentBody): LlmConfig {
  const { model, max_output_tokens: maxOutputTokens, temperature, top_p: topP } = body;
  const sent = Object.entries({ model, maxOutputTokens, temperature, topP });
  return Object.fromEntries(sent.filter(([, value]) => value !== undefined));
}

function toolOf(tool: Responses.Tool): readonly ToolDescription[] {
  if (tool.type !== 'function') return [];
  const { name, description, parameters } = tool;
  return [{ name, description: description ?? '', inputSchema: parameters as JsonObject }];
}

function choiceOf(choice: Responses.ResponseCreateParams['tool_choice']): ToolChoice | undefined {
  if (typeof choice === 'string' || choice === undefined) return choice;
  return choice.type === 'function' ? { toolName: choice.name } : undefined;
}

function formatOf(format: Responses.ResponseFormatTextConfig | undefined): ProviderRequest['responseFormat'] {
  if (format === undefined || format.type === 'text') return undefined;
  if (format.type === 'json_object') return {};
  return { schema: format.schema as JsonObject, name: format.name };
}

function partsOf(item: Responses.ResponseInputItem): readonly SentPart[] {
  if ('role' in item) return contentOf(item as Responses.EasyInputMessage);
  if (item.type === 'function_call')
    return [{ type: 'call', id: item.call_id, name: item.name, arguments: item.arguments }];
  return item.type === 'function_call_output' ? [resultOf(item)] : [];
}

type Input = Responses.ResponseInputContent | Responses.ResponseFunctionCallOutputItem;

function contentOf({ role, content }: Responses.EasyInputMessage): readonly SentPart[] {
  const speaker = role === 'developer' ? 'system' : role;
  const parts: readonly Input[] =
    typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
  return parts.flatMap((part): readonly SentPart[] => {
    if (part.type !== 'input_text') return [{ type: 'file', ...fileOf(part) }];
    return part.text === '' ? [] : [{ type: 'text', role: speaker, text: part.text }];
  });
}

function resultOf({ call_id, output }: Responses.ResponseInputItem.FunctionCallOutput): SentPart {
  const id = call_id ?? '';
  if (typeof output === 'string') return { type: 'result', id, text: output };
  const text = output.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n');
  const files = output.flatMap((part) => (part.type === 'input_text' ? [] : [fileOf(part)]));
  return { type: 'result', id, text, files };
}

function fileOf(part: Exclude<Input, { type: 'input_text' }>): SentFile {
  const url = (part.type === 'input_image' ? part.image_url : (part.file_url ?? part.file_data)) ?? '';
  const [, mediaType, data] = /^data:([^;]*);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined ? { url } : { mediaType, data };
}
