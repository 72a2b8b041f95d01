import type { UIMessageChunk } from 'ai';
import type { ToolPart } from '../messages/ui-part.ts';
import { isSameValue } from '../json/is-same-value.ts';
import { inputChunk, outputChunks, requestChunks, responseChunks } from './tool-chunks.ts';

/** The order in which a call has its states. */
const RANKS: { readonly [State in ToolPart['state']]: number } = {
  'input-streaming': 0,
  'input-available': 1,
  'approval-requested': 2,
  'approval-responded': 3,
  'output-available': 4,
  'output-error': 4,
  'output-denied': 4,
};

type StreamingPart = Extract<ToolPart, { readonly state: 'input-streaming' }>;

/**
 * Returns the chunks that bring a call in place from one state to a later one; `undefined` when none can. No chunk takes
 * back an approval, a result or a piece of the input.
 */
export function grownCallChunks(shown: ToolPart, wanted: ToolPart): readonly UIMessageChunk[] | undefined {
  if (!isSameCall(shown, wanted) || RANKS[shown.state] > RANKS[wanted.state]) return undefined;
  if (shown.state === 'input-streaming') return grownInputChunks(shown, wanted);
  const isSame = isSameValue(shown.input, wanted.input) && isSameOrigin(shown, wanted);
  const [approval, output] = [grownApprovalChunks(shown, wanted), grownOutputChunks(shown, wanted)];
  return isSame && approval && output ? [...approval, ...output] : undefined;
}

function isSameCall(shown: ToolPart, wanted: ToolPart): boolean {
  const isSameType = shown.type === wanted.type && shown.toolCallId === wanted.toolCallId;
  return isSameType && toolNameOf(shown) === toolNameOf(wanted);
}

function toolNameOf(part: ToolPart): string | undefined {
  return part.type === 'dynamic-tool' ? part.toolName : undefined;
}

function isSameOrigin(shown: ToolPart, wanted: ToolPart): boolean {
  const isSameMetadata = isSameValue(shown.callProviderMetadata, wanted.callProviderMetadata);
  return isSameMetadata && shown.providerExecuted === wanted.providerExecuted;
}

/** The input of a call grows, or is complete. A call that has its result before is added again. */
function grownInputChunks(shown: StreamingPart, wanted: ToolPart): readonly UIMessageChunk[] | undefined {
  const { toolCallId, rawInput = '', providerExecuted, callProviderMetadata } = shown;
  if (providerExecuted !== undefined || callProviderMetadata !== undefined) return undefined;
  if (wanted.state !== 'input-streaming') {
    if (RANKS[wanted.state] === RANKS['output-available']) return undefined;
    return [inputChunk(wanted), ...requestChunks(wanted), ...responseChunks(wanted)];
  }
  if (!wanted.rawInput?.startsWith(rawInput) || !isSameOrigin(shown, wanted)) return undefined;
  return [{ type: 'tool-input-delta', toolCallId, inputTextDelta: wanted.rawInput.slice(rawInput.length) }];
}

function grownApprovalChunks(shown: ToolPart, wanted: ToolPart): readonly UIMessageChunk[] | undefined {
  if (isSameValue(shown.approval, wanted.approval)) return [];
  if (shown.approval === undefined) return [...requestChunks(wanted), ...responseChunks(wanted)];
  const isUndecided = shown.approval.approved === undefined && shown.approval.id === wanted.approval?.id;
  if (!isUndecided) return undefined;
  const [{ descriptor, requestReason }, now] = [shown.approval, wanted.approval];
  const isSameRequest = isSameValue(descriptor, now?.descriptor) && requestReason === now?.requestReason;
  // The request comes again when another person may decide now.
  return [...(isSameRequest ? [] : requestChunks(wanted)), ...responseChunks(wanted)];
}

function grownOutputChunks(shown: ToolPart, wanted: ToolPart): readonly UIMessageChunk[] | undefined {
  const [before, after] = [resultOf(shown), resultOf(wanted)];
  if (isSameValue(before, after)) return [];
  if (before && (before.state === 'output-denied' || after?.state === 'output-denied')) return undefined;
  if (before?.metadata && after?.metadata === undefined) return undefined;
  return outputChunks(wanted);
}

interface Result {
  readonly state: ToolPart['state'];
  readonly value?: unknown;
  readonly metadata?: object | undefined;
}

/** Returns the result of a call; `undefined` before. */
function resultOf(part: ToolPart): Result | undefined {
  const { state } = part;
  if (RANKS[state] < RANKS['output-available']) return undefined;
  if (part.state === 'output-available')
    return { state, value: part.output, metadata: part.resultProviderMetadata };
  if (part.state !== 'output-error') return { state };
  return { state, value: part.errorText, metadata: part.resultProviderMetadata };
}
