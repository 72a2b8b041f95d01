import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import type { LlmConfig, ResponseFormat } from '@holdfast/core';
import type { InferenceRequest, ToolChoice, ToolDescription } from '@holdfast/core/driver';
import { copyOf } from '../values/copy.ts';
import { sentOptions } from '../values/provider-options.ts';
import { InvalidCallError } from '../errors/call-errors.ts';
import type { CallHeaders } from './headers.ts';

/** The call options that do not come from the request. */
export interface CallSetting {
  readonly headers: CallHeaders | undefined;
  readonly signal: AbortSignal;
}

/**
 * Converts a request to call options of the AI SDK. The driver calls this function for each attempt with a new prompt,
 * because models and middleware may change the options and the prompt.
 */
export function convertRequest(
  request: InferenceRequest,
  prompt: LanguageModelV4Prompt,
  { headers, signal }: CallSetting,
): LanguageModelV4CallOptions {
  return {
    ...convertSettings(request.llmConfig),
    ...convertTools(request.tools, request.toolChoice),
    ...convertFormat(request.responseFormat),
    ...(headers && { headers: { ...headers } }),
    prompt,
    abortSignal: signal,
  };
}

type Settings = Omit<LanguageModelV4CallOptions, 'prompt'>;

function convertSettings(config: LlmConfig = {}): Settings {
  const { model: _, stopSequences, reasoning, providerOptions, ...settings } = config;
  return {
    ...settings,
    ...(stopSequences && { stopSequences: [...stopSequences] }),
    ...(reasoning !== undefined && { reasoning: reasoningLevel(reasoning) }),
    ...sentOptions(providerOptions),
  };
}

type ReasoningLevel = NonNullable<Settings['reasoning']>;

const REASONING_LEVELS: Readonly<Record<ReasoningLevel, true>> = {
  'provider-default': true,
  none: true,
  minimal: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
};

/** @throws InvalidCallError for a level that the AI SDK does not have. */
function reasoningLevel(level: string): ReasoningLevel {
  if (isReasoningLevel(level)) return level;
  const known = Object.keys(REASONING_LEVELS).join(', ');
  throw new InvalidCallError(`Unknown reasoning level "${level}". Known levels: ${known}.`);
}

function isReasoningLevel(level: string): level is ReasoningLevel {
  return Object.hasOwn(REASONING_LEVELS, level);
}

function convertTools(tools: readonly ToolDescription[], choice: ToolChoice): Settings {
  if (tools.length === 0) return {};
  let converted = convertedTools.get(tools);
  if (converted === undefined) {
    converted = tools.map(convertTool);
    convertedTools.set(tools, converted);
  }
  return { tools: converted.slice(), toolChoice: convertToolChoice(choice) };
}

type SentTool = LanguageModelV4FunctionTool | LanguageModelV4ProviderTool;

const convertedTools = new WeakMap<readonly ToolDescription[], readonly SentTool[]>();

/** Converts the description of a tool. The schema is a copy, because providers may write into it. */
function convertTool(tool: ToolDescription): SentTool {
  const { name, description, inputSchema, strict, inputExamples, providerTool } = tool;
  if (providerTool) return { type: 'provider', id: providerTool.id, name, args: copyOf(providerTool.args) };
  return {
    type: 'function',
    name,
    ...(description !== '' && { description }),
    inputSchema: copyOf(inputSchema),
    ...(inputExamples && { inputExamples: inputExamples.map(({ input }) => ({ input: copyOf(input) })) }),
    ...sentOptions(tool.providerOptions),
    ...(strict !== undefined && { strict }),
  };
}

function convertToolChoice(choice: ToolChoice): LanguageModelV4ToolChoice {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.toolName };
}

/** Copies, because providers may write into a schema. */
const convertedFormats = new WeakMap<ResponseFormat, ResponseFormat>();

function convertFormat(format: ResponseFormat | undefined): Settings {
  if (format === undefined) return {};
  let converted = convertedFormats.get(format);
  if (converted === undefined) {
    converted = copyOf(format);
    convertedFormats.set(format, converted);
  }
  return { responseFormat: { ...converted } };
}
