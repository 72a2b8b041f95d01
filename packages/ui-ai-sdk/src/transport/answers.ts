import type { UIMessage } from 'ai';
import { isToolPart, type ToolPart, type UIPart } from '../messages/ui-part.ts';

const ANSWERED: ReadonlySet<string> = new Set(['approval-responded', 'output-available', 'output-error']);

/** Returns a message with its decided and answered calls only: the server has the rest. */
export function answersOf({ id, role, parts }: UIMessage): UIMessage {
  return { id, role, parts: parts.filter((part) => isToolPart(part) && ANSWERED.has(part.state)) };
}

/** True for a call that waits for an answer of the page, in a response that is not in progress. */
export function isQuestion(part: UIPart): boolean {
  return isToolPart(part) && part.state === 'input-available' && !part.providerExecuted;
}

/** True when a message of the page has a decision or an answer for which the message of the server still waits. */
export function hasNewAnswer(message: UIMessage, known: UIMessage | undefined): boolean {
  const calls = message.parts.filter(isToolPart);
  if (known === undefined) return calls.some(({ state }) => state === 'approval-responded');
  const waiting = known.parts.filter(isToolPart).filter(isWaiting);
  return calls.some((call) => waiting.some((other) => isAnswerTo(other, call)));
}

function isWaiting(call: ToolPart): boolean {
  return call.state === 'approval-requested' || isQuestion(call);
}

function isAnswerTo(waiting: ToolPart, { toolCallId, state }: ToolPart): boolean {
  if (waiting.toolCallId !== toolCallId) return false;
  if (waiting.state === 'approval-requested') return state === 'approval-responded';
  return state === 'output-available' || state === 'output-error';
}
