import type { UIMessage } from 'ai';
import { isToolPart } from '../messages/ui-part.ts';
import type { ToolPart } from '../messages/ui-part.ts';

/** True when a message of the page has a decision or an answer for which the message of the server still waits. */
export function hasNewAnswer(message: UIMessage, known: UIMessage | undefined): boolean {
  const calls = message.parts.filter(isToolPart);
  if (known === undefined) return calls.some(({ state }) => state === 'approval-responded');
  const waiting = known.parts.filter(isToolPart).filter(isWaiting);
  return calls.some((call) => waiting.some((other) => isAnswerTo(other, call)));
}

function isWaiting({ state, providerExecuted }: ToolPart): boolean {
  return state === 'approval-requested' || (state === 'input-available' && !providerExecuted);
}

function isAnswerTo(waiting: ToolPart, { toolCallId, state }: ToolPart): boolean {
  if (waiting.toolCallId !== toolCallId) return false;
  if (waiting.state === 'approval-requested') return state === 'approval-responded';
  return state === 'output-available' || state === 'output-error';
}
