import type { ErrorRecord, ToolCallPart, ToolOutcome } from '@holdfast/core';
import type { ToolOutcomeType } from '@holdfast/core/engine';

/** A value as it comes back from JSON text. */
export function throughText(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

export const addCall: ToolCallPart = {
  type: 'tool-call',
  toolCallId: 'call_1',
  toolName: 'add',
  input: { a: 1 },
};

export const someError: ErrorRecord = { name: 'Error', message: 'no' };

/** An outcome of this type with that error. */
export function endedBy(type: Exclude<ToolOutcomeType, 'succeeded'>): ToolOutcome {
  return { type, error: someError };
}
