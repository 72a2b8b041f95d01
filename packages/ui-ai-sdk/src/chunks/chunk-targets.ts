import type { UIPart } from '../messages/ui-part.ts';
import { isToolPart } from '../messages/ui-part.ts';

/** Returns the index of the part that a page changes when a chunk names a call; -1 without one. */
export function callIndex(parts: readonly UIPart[], toolCallId: string): number {
  const isCall = (part: UIPart | undefined) => part && isToolPart(part) && part.toolCallId === toolCallId;
  for (let index = lastStepIndex(parts) + 1; index < parts.length; index++)
    if (isCall(parts[index])) return index;
  return parts.findLastIndex(isCall);
}

/** Returns the index of the part that a page changes when a chunk names an approval; -1 without one. */
export function approvalIndex(parts: readonly UIPart[], approvalId: string): number {
  return parts.findIndex((part) => isToolPart(part) && part.approval?.id === approvalId);
}

/** Returns the index at which the last step of a message starts; -1 without a step. */
export function lastStepIndex(parts: readonly UIPart[]): number {
  return parts.findLastIndex(({ type }) => type === 'step-start');
}

/**
 * True when chunks can add the parts from an index on: they name each call, approval and data part by its id. A call must
 * have an id of its own in its step, an approval and a data part in the message.
 */
export function canBeAdded(parts: readonly UIPart[], from: number): boolean {
  const names = new Set<string>();
  let step = 0;
  return parts.every((part, index) => {
    if (part.type === 'step-start') step++;
    const named = namesOf(part, step);
    const isFree = index < from || named.every((name) => !names.has(name));
    for (const name of named) names.add(name);
    return isFree;
  });
}

function namesOf(part: UIPart, step: number): readonly string[] {
  if (isToolPart(part)) {
    const { toolCallId, approval } = part;
    const call = `${step}:${toolCallId}`;
    return approval ? [call, `approval:${approval.id}`] : [call];
  }
  return 'data' in part && part.id !== undefined ? [`${part.type}:${part.id}`] : [];
}
