import type { UIMessageChunk } from 'ai';
import type { ToolPart } from '../messages/ui-part.ts';

type ToolChunk<Type extends UIMessageChunk['type']> = Extract<UIMessageChunk, { readonly type: Type }>;

/** Returns the chunks that add a call. */
export function toolPartChunks(part: ToolPart): readonly UIMessageChunk[] {
  switch (part.state) {
    case 'input-streaming':
      return streamedInput(part, part.rawInput);
    case 'output-available':
      return part.approval ? allChunks(part) : [...calledBefore(part), ...outputChunks(part)];
    case 'output-error':
      return part.approval ? allChunks(part) : failedCall(part);
    default:
      return allChunks(part);
  }
}

/** Returns the chunks of the input, of the approval and of the output, as far as the part has them. */
function allChunks(part: ToolPart): readonly UIMessageChunk[] {
  return [inputChunk(part), ...requestChunks(part), ...responseChunks(part), ...outputChunks(part)];
}

/**
 * Returns the chunks of a call that has its result. A page runs its own tools when it reads `tool-input-available`, so
 * the input comes as text, unless a page cannot read the text.
 */
function calledBefore(part: ToolPart): readonly UIMessageChunk[] {
  const text = part.providerExecuted ? undefined : JSON.stringify(part.input);
  return text === undefined || REFUSED.test(text) ? [inputChunk(part)] : streamedInput(part, text);
}

/** Names of members that the SDK refuses to parse. */
const REFUSED = /__proto__|constructor/;

function streamedInput(part: ToolPart, text = ''): readonly UIMessageChunk[] {
  const { toolCallId } = part;
  const start: UIMessageChunk = { type: 'tool-input-start', ...callMembers(part) };
  return text === '' ? [start] : [start, { type: 'tool-input-delta', toolCallId, inputTextDelta: text }];
}

/** Returns the chunks of a call that failed, in which the chunk with the error also has the input. */
function failedCall(part: Extract<ToolPart, { readonly state: 'output-error' }>): readonly UIMessageChunk[] {
  const { callProviderMetadata, resultProviderMetadata, errorText, input } = part;
  const { providerMetadata: _, ...call } = callMembers(part);
  const failed: UIMessageChunk = {
    type: 'tool-input-error',
    ...call,
    input,
    errorText,
    ...(resultProviderMetadata && { providerMetadata: resultProviderMetadata }),
  };
  return callProviderMetadata ? [...streamedInput(part), failed] : [failed];
}

/** Returns the chunk with the whole input of a call. */
export function inputChunk(part: ToolPart): UIMessageChunk {
  return { type: 'tool-input-available', ...callMembers(part), input: part.input };
}

type CallMembers = Omit<ToolChunk<'tool-input-start'>, 'type' | 'inputEncoding'>;

function callMembers(part: ToolPart): CallMembers {
  const { toolCallId, providerExecuted, callProviderMetadata } = part;
  const name = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
  return {
    toolCallId,
    toolName: name,
    ...(part.type === 'dynamic-tool' && { dynamic: true }),
    ...(providerExecuted && { providerExecuted }),
    ...(callProviderMetadata && { providerMetadata: callProviderMetadata }),
  };
}

/** Returns the chunk that requests approval, if the part has an approval. */
export function requestChunks({ approval, toolCallId }: ToolPart): readonly UIMessageChunk[] {
  if (approval === undefined) return [];
  const { id: approvalId, descriptor, requestReason } = approval;
  const reason = requestReason === undefined ? {} : { reason: requestReason };
  const described = descriptor === undefined ? {} : { approvalDescriptor: descriptor };
  return [{ type: 'tool-approval-request', approvalId, toolCallId, ...described, ...reason }];
}

/** Returns the chunk with the decision, if the part has one. */
export function responseChunks({ approval }: ToolPart): readonly UIMessageChunk[] {
  if (approval?.approved === undefined) return [];
  const { id: approvalId, approved, reason } = approval;
  return [{ type: 'tool-approval-response', approvalId, approved, ...(reason !== undefined && { reason }) }];
}

/** Returns the chunk with the result of a call, if it has one. */
export function outputChunks(part: ToolPart): readonly UIMessageChunk[] {
  const { toolCallId } = part;
  switch (part.state) {
    case 'output-available':
      return [{ type: 'tool-output-available', toolCallId, output: part.output, ...resultMembers(part) }];
    case 'output-error':
      return [{ type: 'tool-output-error', toolCallId, errorText: part.errorText, ...resultMembers(part) }];
    case 'output-denied':
      return [{ type: 'tool-output-denied', toolCallId }];
    default:
      return [];
  }
}

type ResultPart = Extract<ToolPart, { readonly state: 'output-available' | 'output-error' }>;

function resultMembers({
  resultProviderMetadata,
}: ResultPart): Pick<ToolChunk<'tool-output-error'>, 'providerMetadata'> {
  return resultProviderMetadata ? { providerMetadata: resultProviderMetadata } : {};
}
