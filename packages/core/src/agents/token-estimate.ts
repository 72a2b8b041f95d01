import type { AgentState } from '../state/agent-state.ts';
import type { Message, MessagePart, Messages } from '../state/messages/messages.ts';

const CHARACTERS_PER_TOKEN = 4;
/** A file is paid for by what it shows, not by the length of its base64: 1,000 tokens. */
const FILE_CHARACTERS = 4_000;

/**
 * About how many tokens a model would be shown. Where the provider counted the step before, and all of its input is
 * shown again, that count (prompt and tools included) and the added characters / 4; else all characters / 4.
 */
export function estimateTokens({ lastStep }: AgentState, view: Messages): number {
  const counted = lastStep?.response?.usage.inputTokens;
  const added = counted === undefined ? undefined : view.since((lastStep as { input: Messages }).input);
  if (counted === undefined || added === undefined) return charactersOf(view) / CHARACTERS_PER_TOKEN;
  return counted + charactersOf(added) / CHARACTERS_PER_TOKEN;
}

const known = new WeakMap<Message, number>();

/** How many characters messages have, as JSON. */
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
