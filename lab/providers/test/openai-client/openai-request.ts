import { textOf, type LlmConfig, type Message, type ResponseFormat, type UserPart } from '@holdfast/core';
import type {
  AssistantPart,
  InferenceRequest,
  ReasoningPart,
  ToolChoice,
  ToolDescription,
  ToolOutput,
} from '@holdfast/core/driver';
import type { Responses } from 'openai/resources/responses/responses';

/** Returns the body of a call. */
export function bodyOf(request: InferenceRequest, model: string): Responses.ResponseCreateParamsStreaming {
  const { systemPrompt, messages, tools, toolChoice, responseFormat, llmConfig = {} } = request;
  return {
    stream: true,
    store: false,
    model,
    ...settingsOf(llmConfig),
    ...(systemPrompt !== undefined && { instructions: systemPrompt }),
    input: messages.toArray().flatMap(itemsOf),
    ...(tools.length > 0 && { tools: tools.map(toolOf), tool_choice: choiceOf(toolChoice) }),
    ...formatOf(responseFormat),
  };
}

/** Returns the settings that the Responses API has. Only reasoning models accept `include`. */
function settingsOf({ model, maxOutputTokens, temperature, topP, reasoning }: LlmConfig): object {
  return {
    ...(model !== undefined && { model }),
    max_output_tokens: maxOutputTokens,
    temperature,
    top_p: topP,
    ...(reasoning !== undefined && {
      reasoning: { effort: reasoning, summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    }),
  };
}

function toolOf({ name, description, inputSchema }: ToolDescription): Responses.FunctionTool {
  return { type: 'function', name, description, parameters: inputSchema, strict: false };
}

function choiceOf(choice: ToolChoice): Responses.ToolChoiceOptions | Responses.ToolChoiceFunction {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.toolName };
}

function formatOf(format: ResponseFormat | undefined): { readonly text?: Responses.ResponseTextConfig } {
  if (format?.type !== 'json') return {};
  const { schema, name = 'response' } = format;
  if (schema === undefined) return { text: { format: { type: 'json_object' } } };
  return { text: { format: { type: 'json_schema', name, schema, strict: true } } };
}

function itemsOf(message: Message): readonly Responses.ResponseInputItem[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: textOf(message) }];
    case 'user':
      return [{ role: 'user', content: message.content.map(inputPartOf) }];
    case 'assistant':
      return message.content.flatMap(assistantItemsOf);
    case 'tool':
    default:
      return message.content.map(({ toolCallId, output }) => {
        return { type: 'function_call_output', call_id: toolCallId, output: resultOf(output) };
      });
  }
}

/** Returns the items of a part. Sources, and the data of other providers, are not sent. */
function assistantItemsOf(part: AssistantPart): readonly Responses.ResponseInputItem[] {
  if (part.type === 'reasoning') return reasoningItemsOf(part);
  if (part.type === 'text') return part.text === '' ? [] : [{ role: 'assistant', content: part.text }];
  if (part.type !== 'tool-call' || part.providerExecuted) return [];
  const { toolCallId, toolName, input, invalid } = part;
  // OpenAI accepts no arguments that are not JSON.
  const sent = JSON.stringify(invalid === undefined ? input : { text: input });
  return [{ type: 'function_call', call_id: toolCallId, name: toolName, arguments: sent }];
}

/** Returns the item that the reader attached to the part, with its encrypted content. */
function reasoningItemsOf({
  text,
  providerOptions,
}: ReasoningPart): readonly Responses.ResponseReasoningItem[] {
  const { openai } = providerOptions ?? {};
  if (typeof openai !== 'object' || openai === null || !('itemId' in openai)) return [];
  const { itemId: id, reasoningEncryptedContent: encrypted_content } = openai;
  if (typeof id !== 'string' || typeof encrypted_content !== 'string') return [];
  const summary = text === '' ? [] : [{ type: 'summary_text' as const, text }];
  return [{ type: 'reasoning', id, summary, encrypted_content }];
}

function inputPartOf(
  part: UserPart,
): Responses.ResponseInputText | Responses.ResponseInputImage | Responses.ResponseInputFile {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const { mediaType, data, filename = 'file' } = part;
  if (data.type !== 'data' && data.type !== 'url') throw new Error(`A file cannot be sent as ${data.type}.`);
  const url = data.type === 'url' ? data.url : `data:${mediaType};base64,${data.data}`;
  if (mediaType.startsWith('image/')) return { type: 'input_image', image_url: url, detail: 'auto' };
  return { type: 'input_file', ...(data.type === 'url' ? { file_url: url } : { filename, file_data: url }) };
}

function resultOf(output: ToolOutput): Responses.ResponseInputItem.FunctionCallOutput['output'] {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return output.reason ?? 'The call was denied.';
    case 'content':
    default:
      return output.value.flatMap((part) => (part.type === 'custom' ? [] : [inputPartOf(part)]));
  }
}
