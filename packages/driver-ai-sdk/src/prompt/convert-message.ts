import type {
  LanguageModelV4CustomPart,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ReasoningFilePart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4FileData,
} from '@ai-sdk/provider';
import {
  invalidArgument,
  textOf,
  type FilePart,
  type JsonObject,
  type Message,
  type ToolCallPart,
  type UserPart,
} from '@holdfast/core';
import {
  callMarksOf,
  type AssistantPart,
  type CustomPart,
  type ReasoningFilePart,
  type ToolContentPart,
  type ToolOutput,
  type ToolResultPart,
} from '@holdfast/core/driver';
import { copyOf } from '../values/copy.ts';
import { sentOptions } from '../values/provider-options.ts';

/** A file in the form that the driver sends: its data and its media type. */
export interface SentFile {
  readonly data: SharedV4FileData;
  readonly mediaType: string;
}

/** The files of a message, prepared for one model, by the part that holds each file. */
export type SentFiles = ReadonlyMap<object, SentFile>;

type SentMessage<Role extends Message['role']> = Extract<LanguageModelV4Message, { role: Role }>;
type SentUserPart = SentMessage<'user'>['content'][number];
type SentAssistantPart = SentMessage<'assistant'>['content'][number];
type SentToolPart = SentMessage<'tool'>['content'][number];
type SentContent = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number];

/**
 * Converts a message to a message of the AI SDK, without tags and sources. Returns `undefined` for a message without content
 * to send. The result shares no object with the message, because providers may write into it; bytes and URLs are shared.
 * `files` must hold every file of the message.
 */
export function convertMessage(message: Message, files: SentFiles): LanguageModelV4Message | undefined {
  const converted = convertByRole(message, files);
  return converted === undefined || converted.content.length === 0 ? undefined : converted;
}

function convertByRole(message: Message, files: SentFiles): LanguageModelV4Message | undefined {
  const options = sentOptions(message.providerOptions);
  switch (message.role) {
    case 'system':
      return {
        role: 'system',
        content: textOf(message),
        ...sentOptions(message.content.at(-1)?.providerOptions),
        ...options,
      };
    case 'user':
      return { role: 'user', content: convertParts(message.content, files, convertUserPart), ...options };
    case 'assistant':
      return {
        role: 'assistant',
        content: convertParts(message.content, files, convertAssistantPart),
        ...options,
      };
    case 'tool':
      return {
        role: 'tool',
        content: message.content.flatMap((part) => convertResult(part, files)),
        ...options,
      };
    default:
      return undefined;
  }
}

function convertParts<From, To>(
  parts: readonly From[],
  files: SentFiles,
  convert: (part: From, files: SentFiles) => To | undefined,
): To[] {
  return parts.map((part) => convert(part, files)).filter((part) => part !== undefined);
}

function convertUserPart(part: UserPart, files: SentFiles): SentUserPart | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : convertText(part);
    case 'file':
      return convertFile(part, files);
    default:
      return undefined;
  }
}

function convertAssistantPart(part: AssistantPart, files: SentFiles): SentAssistantPart | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' && !part.providerOptions ? undefined : convertText(part);
    case 'reasoning':
      return { type: 'reasoning', text: part.text, ...sentOptions(part.providerOptions) };
    case 'file':
      return convertFile(part, files);
    case 'reasoning-file':
      return convertReasoningFile(part, files);
    case 'tool-call':
      return convertToolCall(part);
    case 'tool-result':
      return convertToolResult(part, files);
    case 'custom':
      return convertCustom(part);
    case 'source':
    default:
      return undefined;
  }
}

function convertText(part: {
  readonly text: string;
  readonly providerOptions?: JsonObject;
}): LanguageModelV4TextPart {
  return { type: 'text', text: part.text, ...sentOptions(part.providerOptions) };
}

function convertFile(part: FilePart, files: SentFiles): LanguageModelV4FilePart {
  const { data, mediaType } = fileOf(part, files);
  const name = part.filename === undefined ? {} : { filename: part.filename };
  return { type: 'file', data, mediaType, ...name, ...sentOptions(part.providerOptions) };
}

function convertReasoningFile(
  part: ReasoningFilePart,
  files: SentFiles,
): LanguageModelV4ReasoningFilePart | undefined {
  const { data, mediaType } = fileOf(part, files);
  if (data.type !== 'data' && data.type !== 'url') return undefined;
  return { type: 'reasoning-file', data, mediaType, ...sentOptions(part.providerOptions) };
}

function convertToolCall(part: ToolCallPart): LanguageModelV4ToolCallPart {
  const isUnusable = part.invalid !== undefined && (typeof part.input !== 'object' || part.input === null);
  return {
    type: 'tool-call',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    input: isUnusable ? {} : copyOf(part.input),
    ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
    ...sentOptions(part.providerOptions),
  };
}

function convertCustom(part: CustomPart): LanguageModelV4CustomPart {
  // The provider named the kind in the form `provider.type`. The driver sends the kind back unchanged.
  const kind = part.kind as LanguageModelV4CustomPart['kind'];
  return { type: 'custom', kind, ...sentOptions(part.providerOptions) };
}

/** Converts a result. The result of a call that waited for approval is the decision, which the provider applies. */
function convertResult(part: ToolResultPart, files: SentFiles): SentToolPart[] {
  const { approvalId } = callMarksOf(part);
  if (approvalId === undefined) return [convertToolResult(part, files)];
  if (isApproved(part.output)) return [{ type: 'tool-approval-response', approvalId, approved: true }];
  const { toolCallId, toolName, output } = part;
  const reason = reasonOf(output);
  const providerOptions = { openai: { approvalId } };
  return [
    { type: 'tool-approval-response', approvalId, approved: false, ...reason },
    {
      type: 'tool-result',
      toolCallId,
      toolName,
      output: { type: 'execution-denied', ...reason, providerOptions },
    },
  ];
}

/**
 * True for the result that the loop gives an approved call. Any other result is a refusal, also a text that a compiler put
 * in the place of a decision: the provider must not run a call because a result was shortened.
 */
function isApproved(output: ToolOutput): boolean {
  if (output.type !== 'json' || typeof output.value !== 'object' || output.value === null) return false;
  return 'approved' in output.value && output.value.approved === true;
}

function reasonOf(output: ToolOutput): { reason?: string } {
  const reason = output.type === 'execution-denied' ? output.reason : output.value;
  return typeof reason === 'string' ? { reason } : {};
}

function convertToolResult(part: ToolResultPart, files: SentFiles): LanguageModelV4ToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    output: convertOutput(part.output, files),
    ...sentOptions(part.providerOptions),
  };
}

function convertOutput(output: ToolOutput, files: SentFiles): LanguageModelV4ToolResultOutput {
  const { providerOptions, ...rest } = output;
  const options = sentOptions(providerOptions);
  if (rest.type !== 'content') return { ...copyOf(rest), ...options };
  return { type: 'content', value: rest.value.map((part) => convertContentPart(part, files)), ...options };
}

function convertContentPart(part: ToolContentPart, files: SentFiles): SentContent {
  if (part.type === 'text') return convertText(part);
  if (part.type === 'file') return convertFile(part, files);
  return { type: 'custom', ...sentOptions(part.providerOptions) };
}

function fileOf(part: FilePart | ReasoningFilePart, files: SentFiles): SentFile {
  const file = files.get(part);
  if (file === undefined)
    throw invalidArgument('A file was not prepared before the conversion of its message.');
  return { ...file, data: copyOf(file.data) };
}
