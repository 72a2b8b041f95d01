import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { CacheTtl } from '../cache/cache-rules.ts';
import { copyOf } from '../values/copy.ts';

/** A conversation in the form for one model. Its messages are copies, shared between the prompts of the model. */
export interface Prompt {
  readonly messages: readonly LanguageModelV4Message[];
  /** The indexes in `messages` of the messages with files. */
  readonly filePlaces: readonly number[];
  /** The lifetimes of the marks for a cache that the application set in the messages. */
  readonly marks: readonly CacheTtl[];
}

/**
 * Creates the prompt of one attempt: a new list, with copies of the messages with files, because the AI Gateway writes to
 * their parts and another attempt needs the files. The other messages stay shared: the next call of the same model sees
 * what a provider writes into them.
 */
export function promptOfAttempt({ messages, filePlaces }: Prompt): LanguageModelV4Prompt {
  const prompt = messages.slice();
  for (const place of filePlaces) {
    const message = messages[place];
    if (message) prompt[place] = copyOf(message);
  }
  return prompt;
}
