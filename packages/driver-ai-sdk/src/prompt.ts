import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';

/** A conversation as one model is sent it. Its messages are frozen and shared between prompts. */
export interface Prompt {
  readonly messages: readonly LanguageModelV4Message[];
  /** The places in `messages` of the messages with files. */
  readonly filePlaces: readonly number[];
}

/**
 * The prompt of one attempt: a list of its own, with copies of the messages with files, because the AI Gateway writes into
 * their parts. The other messages stay shared: no known provider writes into them.
 */
export function promptOfAttempt({ messages, filePlaces }: Prompt): LanguageModelV4Prompt {
  const prompt = messages.slice();
  for (const place of filePlaces) {
    const message = messages[place];
    if (message) prompt[place] = copyOf(message);
  }
  return prompt;
}

/** A copy whose objects and arrays can be written into, at every level. Bytes and URLs stay shared. */
function copyOf<T>(value: T): T;
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
