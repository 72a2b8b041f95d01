import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';

/** A conversation in the form for one model. Its messages are frozen and shared between prompts. */
export interface Prompt {
  readonly messages: readonly LanguageModelV4Message[];
  /** The indexes in `messages` of the messages with files. */
  readonly filePlaces: readonly number[];
}

/**
 * Creates the prompt of one attempt: a new list, with copies of the messages with files, because the AI Gateway writes to
 * their parts. The other messages stay shared, because no known provider writes to them.
 */
export function promptOfAttempt({ messages, filePlaces }: Prompt): LanguageModelV4Prompt {
  const prompt = messages.slice();
  for (const place of filePlaces) {
    const message = messages[place];
    if (message) prompt[place] = copyOf(message);
  }
  return prompt;
}

/** A deep copy with writable objects and arrays. Bytes and URLs stay shared. */
function copyOf<T>(value: T): T;
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
