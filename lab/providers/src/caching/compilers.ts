import {
  allSections,
  conversationWithCurrentToolTrace,
  messageCompiler,
  type Message,
  type MessageCompiler,
} from '@holdfast/core';
import { executionIdOf, isTrace } from '@holdfast/core/engine';
import { tokensOf } from './cache-rules.ts';

/** The compilers that are compared. */
export const COMPILERS: readonly (readonly [name: string, create: () => MessageCompiler])[] = [
  ['the default', conversationWithCurrentToolTrace],
  ['all messages', allSections],
  ['dropped at 20,000 tokens', () => droppedInBatches(20_000)],
];

/**
 * Shows the traces of finished executions until they have more than `maxTokens` tokens, and then hides all of them at
 * once. It reads the whole history in each step, which is enough for a measurement.
 */
function droppedInBatches(maxTokens: number): MessageCompiler {
  return messageCompiler(({ messages, executionId }) => {
    const list = messages.toArray();
    const from = firstShownTrace(list, executionId, maxTokens);
    return list.filter((message, index) => index >= from || !isTrace(message));
  });
}

function firstShownTrace(
  messages: readonly Message[],
  executionId: string | undefined,
  maxTokens: number,
): number {
  let [from, tokens] = [0, 0];
  for (const [index, message] of messages.entries()) {
    if (executionIdOf(message) === executionId) break;
    if (isTrace(message)) tokens += tokensOf(JSON.stringify(message.content));
    else if (message.role === 'assistant' && tokens > maxTokens) [from, tokens] = [index, 0];
  }
  return from;
}
