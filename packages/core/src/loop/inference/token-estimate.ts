import type { AgentState } from '../../state/agent-state.ts';
import type { Message, MessagePart, Messages } from '../../state/messages/messages.ts';

export const CHARACTERS_PER_TOKEN = 4;
/** The size of a file: 1,000 tokens, whatever the length of its base64. */
const FILE_CHARACTERS = 4_000;

/**
 * Estimates how many tokens the messages have. When the provider counted the step before, and all of its input is shown
 * again, the estimate is that count (prompt and tools included) plus the added characters / 4; otherwise all characters
 * / 4.
 */
export function estimateTokens({ lastStep }: AgentState, view: Messages): number {
  const counted = lastStep?.response?.usage.inputTokens;
  const added = counted === undefined ? undefined : view.since((lastStep as { input: Messages }).input);
  if (counted === undefined || added === undefined) return charactersOf(view) / CHARACTERS_PER_TOKEN;
  return counted + charactersOf(added) / CHARACTERS_PER_TOKEN;
}

const known = new WeakMap<Message, number>();

/** The number of characters of messages as JSON. */
export function charactersOf(messages: Iterable<Message>): number {
  let sum = 0;
  for (const message of messages) {
    const length = known.get(message) ?? lengthOf(message.content);
    known.set(message, length);
    sum += length;
  }
  return sum;
}

function lengthOf(content: readonly MessagePart[]): number {
  let sum = 0;
  for (const part of content) {
    const isBinary = part.type === 'file' && part.data.type !== 'text';
    sum += isBinary ? FILE_CHARACTERS : JSON.stringify(part).length;
  }
  return sum;
}
