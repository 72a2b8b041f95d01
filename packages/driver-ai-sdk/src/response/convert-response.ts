import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Source,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
  SharedV4FileDataData,
  SharedV4FileDataUrl,
} from '@ai-sdk/provider';
import type { FinishReason, JsonValue, ToolCallPart } from '@holdfast/core';
import {
  InferenceResponse,
  roundedInteger,
  toJsonObject,
  toJsonValue,
  withCallMarks,
  type AssistantPart,
  type FileData,
  type ProviderOptions,
  type ToolDescription,
  type ToolOutput,
} from '@holdfast/core/driver';
import { keptOptions, withoutItemIds } from '../values/provider-options.ts';
import type { HttpFacts } from './http-facts.ts';
import { convertUsage, hasNumbers } from './reported-usage.ts';

/** Converts a complete response. `modelId` is the default for a response that does not name its model. */
export function convertResult(
  result: LanguageModelV4GenerateResult,
  modelId: string,
  facts: HttpFacts = {},
): InferenceResponse {
  const finishReason = convertFinishReason(result.finishReason);
  return responseOf(result, modelId, { content: convertContent(result.content), finishReason, ...facts });
}

/** Converts an interrupted response to a partial response; `undefined` without usable content and known usage. */
export function convertPartialResult(
  result: LanguageModelV4GenerateResult,
  modelId: string,
  facts: HttpFacts = {},
): InferenceResponse | undefined {
  const content = convertPartialContent(result.content);
  const response = responseOf(result, modelId, { content, finishReason: 'error', ...facts });
  return content.length === 0 && !hasNumbers(response.usage) ? undefined : response;
}

function responseOf(
  { finishReason, usage, providerMetadata, response }: LanguageModelV4GenerateResult,
  modelId: string,
  answer: Pick<InferenceResponse, 'content' | 'finishReason'> & HttpFacts,
): InferenceResponse {
  return InferenceResponse.of({
    ...answer,
    rawFinishReason: finishReason?.raw,
    usage: convertUsage(usage, providerMetadata),
    providerMetadata: keptOptions(providerMetadata).providerOptions,
    modelId: response?.modelId ?? modelId,
    responseId: response?.id,
  });
}

/** Converts the parts of a response, in the model's order. Omits parts of unknown types. */
export function convertContent(content: readonly LanguageModelV4Content[]): AssistantPart[] {
  const approvals = approvalsIn(content);
  return content.map((part) => convertPart(part, approvals)).filter((part) => part !== undefined);
}

/**
 * Converts the parts of an interrupted response that the driver can send back. Omits calls that the provider runs itself
 * and whose result did not arrive, and ids of items that the provider never stored.
 */
export function convertPartialContent(content: readonly LanguageModelV4Content[]): AssistantPart[] {
  return withoutOpenCalls(convertContent(content))
    .map(detachedPart)
    .filter((part) => !('text' in part) || part.text !== '' || isSigned(part.providerOptions));
}

/** True for options with a signature or an encrypted text, which the provider needs although the part has no text. */
function isSigned(options: ProviderOptions | undefined): boolean {
  return Object.values(options ?? {}).some((members) =>
    Object.entries(members ?? {}).some(
      ([name, value]) => typeof value === 'string' && value !== '' && SIGNATURE.test(name),
    ),
  );
}

const SIGNATURE = /signature|redacted|encrypted/i;

function withoutOpenCalls(content: readonly AssistantPart[]): AssistantPart[] {
  const answered = new Set(content.map((part) => part.type === 'tool-result' && part.toolCallId));
  return content.filter((part) => {
    return part.type !== 'tool-call' || !part.providerExecuted || answered.has(part.toolCallId);
  });
}

function detachedPart<T extends AssistantPart>({ providerOptions, ...part }: T): T {
  // Only the options change, and they are optional in every part.
  return { ...part, ...withoutItemIds(providerOptions) } as T;
}

/** The ids of the provider's requests for approval, by the id of the call that waits for it. */
type Approvals = ReadonlyMap<string, string>;

const NO_APPROVALS: Approvals = new Map();

function approvalsIn(content: readonly LanguageModelV4Content[]): Approvals {
  if (!content.some(({ type }) => type === 'tool-approval-request')) return NO_APPROVALS;
  const requests = content.filter((part) => part.type === 'tool-approval-request');
  return new Map(requests.map(({ toolCallId, approvalId }) => [toolCallId, approvalId]));
}

function convertPart(part: LanguageModelV4Content, approvals: Approvals): AssistantPart | undefined {
  const options = keptOptions(part.providerMetadata);
  switch (part.type) {
    case 'text':
    case 'reasoning':
      if (part.text === '' && !options.providerOptions) return undefined;
      return { type: part.type, text: part.text, ...options };
    case 'file':
    case 'reasoning-file':
      return { type: part.type, mediaType: part.mediaType, data: convertFileData(part.data), ...options };
    case 'source':
      return { ...convertSource(part), ...options };
    case 'custom':
      return { type: 'custom', kind: part.kind, ...options };
    case 'tool-call':
      return withApproval({ ...convertToolCall(part), ...options }, approvals);
    case 'tool-result':
      if (part.preliminary) return undefined;
      return { ...convertToolResult(part), ...options };
    case 'tool-approval-request': // see `approvalsIn`
    default:
      return undefined;
  }
}

function convertSource(part: LanguageModelV4Source): AssistantPart {
  const { type, ...source } = part;
  delete source.providerMetadata;
  return { type, source: toJsonObject(source) };
}

function convertToolCall({
  toolCallId,
  toolName,
  input,
  providerExecuted,
}: LanguageModelV4ToolCall): ToolCallPart {
  const executed = providerExecuted ? { providerExecuted } : {};
  return { type: 'tool-call', toolCallId, toolName, ...parseInput(input, providerExecuted), ...executed };
}

function withApproval(call: ToolCallPart, approvals: Approvals): ToolCallPart {
  const approvalId = approvals.get(call.toolCallId);
  return approvalId === undefined ? call : withCallMarks(call, { approvalId });
}

/**
 * Returns a response in which the calls are marked whose results the provider returns in a later response, as it does
 * when its tool waits for the results of other tools.
 */
export function withDeferredCalls(
  response: InferenceResponse,
  tools: readonly ToolDescription[],
): InferenceResponse {
  if (!response.content.some((part) => isDeferred(part, response, tools))) return response;
  const content = response.content.map((part) =>
    isDeferred(part, response, tools) ? withCallMarks(part, { isDeferred: true }) : part,
  );
  return InferenceResponse.of({ ...response, content });
}

function isDeferred(
  part: AssistantPart,
  { content }: InferenceResponse,
  tools: readonly ToolDescription[],
): part is ToolCallPart {
  if (part.type !== 'tool-call' || !part.providerExecuted || !isDeferrable(part, tools)) return false;
  return !content.some((other) => other.type === 'tool-result' && other.toolCallId === part.toolCallId);
}

function isDeferrable({ toolName }: ToolCallPart, tools: readonly ToolDescription[]): boolean {
  return tools.find(({ name }) => name === toolName)?.providerTool?.supportsDeferredResults === true;
}

/**
 * Parses the arguments of a call. An empty text means no arguments. A whole number that would be rounded makes the call
 * invalid: it may be the id of another order. A provider that runs the call itself has all digits.
 */
function parseInput(text: string, isExecuted = false): { input: JsonValue; invalid?: string } {
  if (text.trim() === '') return { input: {} };
  let input: JsonValue;
  try {
    input = JSON.parse(text) as JsonValue;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'not JSON';
    return { input: text, invalid: `The arguments are not valid JSON: ${reason}` };
  }
  const rounded = isExecuted ? undefined : roundedInteger(text);
  if (rounded === undefined) return { input };
  const invalid = `The whole number ${rounded.slice(0, 40)} in the arguments has too many digits: it would be rounded. Send it as a string.`;
  return { input: text, invalid };
}

function convertToolResult({
  toolCallId,
  toolName,
  result,
  isError,
}: LanguageModelV4ToolResult): AssistantPart {
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    output: convertOutput(toJsonValue(result), isError ?? false),
  };
}

function convertOutput(value: JsonValue, isError: boolean): ToolOutput {
  if (isError) return { type: 'error-json', value };
  return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value };
}

function convertFileData(data: SharedV4FileDataData | SharedV4FileDataUrl): FileData {
  if (data.type === 'url') return { type: 'url', url: data.originalUrl ?? data.url.href };
  return { type: 'data', data: typeof data.data === 'string' ? data.data : toBase64(data.data) };
}

/** Encodes bytes as base64 text. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let from = 0; from < bytes.length; from += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(from, from + 0x8000));
  }
  return btoa(binary);
}

const FINISH_REASONS = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content-filter', 'content-filter'],
  ['tool-calls', 'tool-calls'],
  ['error', 'error'],
]);

/**
 * True when the response is complete. An interrupted response has no finish reason, the reason `interrupted`, or the reason
 * `other` without the provider's raw reason.
 */
export function isFinished(reason: LanguageModelV4FinishReason | undefined): boolean {
  if (reason === undefined || reason.unified === 'interrupted') return false;
  return convertFinishReason(reason) !== 'other' || Boolean(reason.raw);
}

/** Converts a finish reason. An absent or unknown reason becomes `other`. */
export function convertFinishReason(reason: LanguageModelV4FinishReason | undefined): FinishReason {
  return FINISH_REASONS.get(reason?.unified ?? 'other') ?? 'other';
}
