import { isToolPart, type ToolPart, type UIPart } from '../messages/ui-part.ts';

/** Returns the index of the part that a page changes when a chunk names a call; -1 without one. */
export function callIndex(parts: readonly UIPart[], toolCallId: string): number {
  const isCall = (part: UIPart | undefined) => part && isToolPart(part) && part.toolCallId === toolCallId;
  for (let index = lastStepIndex(parts) + 1; index < parts.length; index++)
    if (isCall(parts[index])) return index;
  return parts.findLastIndex(isCall);
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
  for (let index = from; index < parts.length; index++) if (!isReachable(parts, index)) return false;
  return true;
}

function isReachable(parts: readonly UIPart[], index: number): boolean {
  const part = parts[index];
  if (part === undefined) return false;
  if (isToolPart(part)) return !hasEarlierCall(parts, part, index) && isFirstApproval(parts, part, index);
  if (!('data' in part) || part.id === undefined) return true;
  return (
    parts.findIndex((other) => 'data' in other && other.type === part.type && other.id === part.id) === index
  );
}

function hasEarlierCall(parts: readonly UIPart[], { toolCallId }: ToolPart, end: number): boolean {
  for (let index = end - 1; index >= 0; index--) {
    const part = parts[index];
    if (part === undefined || part.type === 'step-start') return false;
    if (isToolPart(part) && part.toolCallId === toolCallId) return true;
  }
  return false;
}

/** True when no earlier part has the approval of a call. */
export function isFirstApproval(parts: readonly UIPart[], { approval }: ToolPart, index: number): boolean {
  if (approval === undefined) return true;
  const known = parts.findIndex((part) => isToolPart(part) && part.approval?.id === approval.id);
  return known === -1 || known >= index;
}
