import type { PartBase, ToolOutput, ToolResultPart } from '@holdfast/core/driver';
import type { ToolCallPart } from '@holdfast/core';
import { providerMember } from './provider-metadata.ts';
import { isToolPart, type PartOptions, type ToolPart, type UIPart } from './ui-part.ts';

/** The members of a tool part that change while its call is handled. */
export type ToolPartState =
  | { readonly state: 'input-streaming'; readonly rawInput?: string }
  | { readonly state: 'input-available'; readonly input: unknown }
  | { readonly state: 'approval-requested'; readonly input: unknown; readonly approval: { id: string } }
  | {
      readonly state: 'approval-responded';
      readonly input: unknown;
      readonly approval: { id: string; approved: true; reason?: string };
    }
  | { readonly state: 'output-available'; readonly input: unknown; readonly output: unknown }
  | { readonly state: 'output-error'; readonly input: unknown; readonly errorText: string }
  | {
      readonly state: 'output-denied';
      readonly input: unknown;
      readonly approval: { id: string; approved: false; reason?: string };
    };

type CallNames = Pick<ToolCallPart, 'toolCallId' | 'toolName' | 'providerExecuted' | 'providerOptions'>;

/** Returns the part that shows a call in a state. */
export function toolPart(
  { toolCallId, toolName, providerExecuted, providerOptions }: CallNames,
  state: ToolPartState,
  options: PartOptions,
): ToolPart {
  const { providerMetadata } = providerMember(providerOptions ? { providerOptions } : {}, options);
  const call = {
    toolCallId,
    ...(providerExecuted && { providerExecuted }),
    ...(providerMetadata && { callProviderMetadata: providerMetadata }),
    ...state,
  };
  return options.isDynamicTool(toolName)
    ? Object.freeze({ type: 'dynamic-tool', toolName, ...call })
    : Object.freeze({ type: `tool-${toolName}`, ...call });
}

/** Returns the id of an approval. It is the same before and after its step is closed, and no other call has it. */
export function approvalIdOf(stepId: string, toolCallId: string, requestNumber = 1): string {
  const first = `${stepId}:${toolCallId}`;
  return requestNumber === 1 ? first : `${first}:${requestNumber}`;
}

/** Returns the state of a call that has its result. */
export function resultState(
  input: unknown,
  { toolCallId, output }: ToolResultPart,
  stepId: string,
): ToolPartState {
  switch (output.type) {
    case 'error-text':
      return { state: 'output-error', input, errorText: output.value };
    case 'error-json':
      return { state: 'output-error', input, errorText: JSON.stringify(output.value) };
    case 'execution-denied':
      return { state: 'output-denied', input, approval: denial(approvalIdOf(stepId, toolCallId), output) };
    default:
      return { state: 'output-available', input, output: output.value };
  }
}

function denial(
  id: string,
  { reason }: Extract<ToolOutput, { readonly type: 'execution-denied' }>,
): { id: string; approved: false; reason?: string } {
  return { id, approved: false, ...(reason !== undefined && { reason }) };
}

/** Records a result in the part of its call, which is the last part with the id of the call. Returns false without one. */
export function recordResult(
  parts: UIPart[],
  result: ToolResultPart,
  stepId: string,
  options: PartOptions,
): boolean {
  const index = parts.findLastIndex((part) => isToolPart(part) && part.toolCallId === result.toolCallId);
  const part = parts[index];
  if (part === undefined || !isToolPart(part)) return false;
  const { type, toolCallId, providerExecuted, callProviderMetadata, input } = part;
  const name = type === 'dynamic-tool' ? { type, toolName: part.toolName } : { type };
  const metadata = providerExecuted ? resultMetadata(result, options) : {};
  parts[index] = Object.freeze({
    ...name,
    toolCallId,
    ...(providerExecuted && { providerExecuted }),
    ...(callProviderMetadata && { callProviderMetadata }),
    ...metadata,
    ...resultState(input, result, stepId),
  });
  return true;
}

/** Returns the data of the provider that ran a call. */
function resultMetadata(result: PartBase, options: PartOptions): Pick<OutputPart, 'resultProviderMetadata'> {
  const { providerMetadata } = providerMember(result, options);
  return providerMetadata ? { resultProviderMetadata: providerMetadata } : {};
}

type OutputPart = Extract<ToolPart, { readonly state: 'output-available' }>;
