import type { AgentState, Message } from '@holdfast/core';
import { executionIdOf } from '@holdfast/core/engine';
import { executionIdIn } from './execution-id.ts';

/** Returns the id of a UI message whose id an earlier message has: the same id with a number. */
export function numberedId(id: string, number: number): string {
  return `${id}:${number}`;
}

/** Returns the messages of a state that a page shows as one: a message of the user, or all messages of an execution. */
export function messagesShownAs({ messages }: AgentState, messageId: string): readonly Message[] {
  const executionId = executionIdIn(messageId);
  const isShown = (message: Message): boolean =>
    message.id === messageId || (message.role !== 'user' && executionIdOf(message) === executionId);
  return messages.toArray().filter(isShown);
}
