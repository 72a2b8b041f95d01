import type { UIMessage } from 'ai';
import { isToolPart } from '../messages/ui-part.ts';
import type { ToolPart } from '../messages/ui-part.ts';

/** True when a message of the page has a decision or an answer that the message of the server does not have. */
export function hasNewAnswer(message: UIMessage, known: UIMessage | undefined): boolean {
  return message.parts.filter(isToolPart).some((part) => isNewAnswer(part, knownPart(part, known)));
}

function knownPart({ toolCallId }: ToolPart, known: UIMessage | undefined): ToolPart | undefined {
  return known?.parts.filter(isToolPart).findLast((part) => part.toolCallId === toolCallId);
}

function isNewAnswer({ state, providerExecuted }: ToolPart, known: ToolPart | undefined): boolean {
  if (state === 'approval-responded') return known === undefined || known.state === 'approval-requested';
  const isAnswer = state === 'output-available' || state === 'output-error';
  return isAnswer && !providerExecuted && known?.state === 'input-available';
}
