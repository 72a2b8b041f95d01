import type {
  LanguageModelV4,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { Message, Messages } from '@holdfast/core';
import { LineageCache } from '@holdfast/core/driver';
import { convertMessage, type SentFiles } from './convert-message.ts';
import type { Prompt } from './prompt.ts';
import { hasFiles, type PromptFiles } from './prompt-files.ts';
import { mergedOptions } from '../values/provider-options.ts';

/** The converted part of a conversation. `prompt` grows with the conversation, and callers receive copies of it. */
interface Conversation {
  readonly builder: PromptBuilder;
  readonly messages: Messages;
  readonly prompt: LanguageModelV4Message[];
  /** The indexes in `prompt` of the messages with files. This list grows too. */
  readonly filePlaces: number[];
}

/** The converted part of a conversation, and the messages that the builder has not converted yet. */
interface Continuation extends Pick<Conversation, 'prompt' | 'filePlaces'> {
  readonly added: readonly Message[];
}

/** The inputs of a prompt besides the conversation. */
export interface PromptParts {
  readonly model: LanguageModelV4;
  readonly files: PromptFiles;
}

const NO_FILES: SentFiles = new Map();
const NOWHERE: readonly never[] = Object.freeze([]);

/** The newest conversation of the last builders, cached with the messages of each conversation. */
const conversations = new LineageCache<readonly Conversation[]>();
/** The number of models that can alternate in one conversation without converting the whole conversation again. */
const MAX_BUILDERS = 4;

/**
 * A growing conversation adds fewer messages than this to a prompt. More messages at once are the result of a fork, or of a
 * compiler that composes a new list for each step. The same messages may arrive again, so the builder caches each
 * conversion.
 */
const MANY_MESSAGES = 32;

/**
 * Builds prompts for one model. For a known conversation, the builder converts the added messages only, because messages
 * are immutable. Each prompt has its own list; its messages are copies, shared between the prompts of the model.
 */
export class PromptBuilder {
  private readonly model: LanguageModelV4;
  private readonly files: PromptFiles;
  /** Conversions of messages that arrived many at once; `undefined` for a message without content to send. */
  private readonly converted = new WeakMap<Message, LanguageModelV4Message | undefined>();
  /** Conversions of messages with files. */
  private readonly convertedWithFiles = new WeakMap<Message, LanguageModelV4Message | undefined>();

  constructor({ model, files }: PromptParts) {
    this.model = model;
    this.files = files;
  }

  /** Builds a prompt. Returns a promise if the messages have files to prepare; it rejects with the error of a download. */
  build(messages: Messages, systemPrompt: string | undefined, signal: AbortSignal): Prompt | Promise<Prompt> {
    const start: LanguageModelV4Prompt = [];
    if (systemPrompt) start.push({ role: 'system', content: systemPrompt });
    if (messages.isEmpty) return { messages: start, filePlaces: NOWHERE };
    const withFiles = this.continuation(messages).added.filter(hasFiles);
    if (withFiles.length === 0) return this.wholePrompt(start, messages);
    const converted = withFiles.map((message) => this.convertWithFiles(message, signal));
    return Promise.all(converted).then(() => this.wholePrompt(start, messages));
  }

  private wholePrompt(start: LanguageModelV4Prompt, messages: Messages): Prompt {
    const { prompt, filePlaces } = this.grownPrompt(messages);
    const whole = start.concat(prompt);
    return { messages: whole, filePlaces: filePlaces.map((place) => place + start.length) };
  }

  /** Splits `messages` into the converted part and the added messages. */
  private continuation(messages: Messages): Continuation {
    const known = conversations.get(messages)?.find(({ builder }) => builder === this);
    const added = known && messages.since(known.messages);
    if (added) return { prompt: known.prompt, filePlaces: known.filePlaces, added };
    return { prompt: [], filePlaces: [], added: messages.slice() };
  }

  /**
   * Converts the added messages. This method is synchronous, so that two calls that extend the same conversation run one
   * after the other.
   */
  private grownPrompt(messages: Messages): Conversation {
    const { prompt, filePlaces, added } = this.continuation(messages);
    for (const message of added) {
      const converted = this.convertedMessage(message, added.length >= MANY_MESSAGES);
      if (!converted) continue;
      append(prompt, converted);
      const place = prompt.length - 1;
      if (this.convertedWithFiles.has(message) && filePlaces.at(-1) !== place) filePlaces.push(place);
    }
    const conversation = { builder: this, messages, prompt, filePlaces };
    const others = (conversations.get(messages) ?? []).filter(({ builder }) => builder !== this);
    conversations.set(messages, [conversation, ...others.slice(0, MAX_BUILDERS - 1)]);
    return conversation;
  }

  private convertedMessage(message: Message, isRemembered: boolean): LanguageModelV4Message | undefined {
    if (this.convertedWithFiles.has(message)) return this.convertedWithFiles.get(message);
    if (this.converted.has(message)) return this.converted.get(message);
    const converted = convertMessage(message, NO_FILES);
    if (isRemembered) this.converted.set(message, converted);
    return converted;
  }

  private async convertWithFiles(message: Message, signal: AbortSignal): Promise<void> {
    if (this.convertedWithFiles.has(message)) return;
    const files = await this.files.prepare(message, this.model, signal);
    if (!this.convertedWithFiles.has(message))
      this.convertedWithFiles.set(message, convertMessage(message, files));
  }
}

/** Appends a message. Adjacent messages with tool results become one message, as providers expect. */
function append(prompt: LanguageModelV4Message[], message: LanguageModelV4Message): void {
  const last = prompt.at(-1);
  if (message.role === 'tool' && last?.role === 'tool')
    prompt[prompt.length - 1] = joinedResults(last, message);
  else prompt.push(message);
}

type SentToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

/** Joins two messages. The options of the first message move to its last part, where they have the same meaning. */
function joinedResults(first: SentToolMessage, second: SentToolMessage): SentToolMessage {
  const content = [...first.content, ...second.content];
  const end = first.content.length - 1;
  const last = content[end];
  if (last) content[end] = withOptions(last, mergedOptions(first.providerOptions, last.providerOptions));
  return { ...second, content };
}

function withOptions<T extends { providerOptions?: SharedV4ProviderOptions }>(
  value: T,
  providerOptions: SharedV4ProviderOptions | undefined,
): T {
  return providerOptions ? { ...value, providerOptions } : value;
}
