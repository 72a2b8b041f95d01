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
import { marksIn } from '../cache/own-marks.ts';
import { mergedOptions } from '../values/provider-options.ts';

/** Converted messages. The lists grow with their conversation, and callers receive copies of them. */
interface Converted {
  readonly prompt: LanguageModelV4Message[];
  /** For each message of the conversation: the length of `prompt` before it. */
  readonly starts: number[];
  /** The indexes in `prompt` of the messages with files. */
  readonly filePlaces: number[];
  /** The indexes in `prompt` of the messages in which the application set marks for a cache. */
  readonly markPlaces: number[];
}

/** The converted part of a conversation. */
interface Conversation {
  readonly builder: PromptBuilder;
  readonly messages: Messages;
  readonly converted: Converted;
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
    if (messages.isEmpty) return { messages: start, filePlaces: NOWHERE, marks: NOWHERE };
    const withFiles = messages.slice(this.knownCount(messages)).filter(hasFiles);
    if (withFiles.length === 0) return this.wholePrompt(start, messages);
    const converted = withFiles.map((message) => this.convertWithFiles(message, signal));
    return Promise.all(converted).then(() => this.wholePrompt(start, messages));
  }

  private wholePrompt(start: LanguageModelV4Prompt, messages: Messages): Prompt {
    const { prompt, filePlaces, markPlaces } = this.convertedMessages(messages);
    return {
      messages: start.concat(prompt),
      filePlaces: filePlaces.map((place) => place + start.length),
      marks: markPlaces.flatMap((place) => marksIn(prompt[place])),
    };
  }

  private knownConversation(messages: Messages): Conversation | undefined {
    return conversations.get(messages)?.find(({ builder }) => builder === this);
  }

  /**
   * The number of first messages that are converted: a list often differs from the known one after its beginning, because an
   * execution hides the calls of the one before. A message that added none to the prompt may have joined the one before it.
   */
  private knownCount(messages: Messages, known = this.knownConversation(messages)): number {
    if (known === undefined) return 0;
    const { prompt, starts } = known.converted;
    let count = messages.commonLength(known.messages);
    while (count > 0 && count < starts.length && starts[count] === (starts[count + 1] ?? prompt.length))
      count--;
    return count;
  }

  /**
   * Converts the added messages. This method is synchronous, so that two calls that extend the same conversation run one
   * after the other.
   */
  private convertedMessages(messages: Messages): Converted {
    const known = this.knownConversation(messages);
    const count = this.knownCount(messages, known);
    const converted = known?.messages.length === count ? known.converted : beginningOf(known, count);
    const { prompt, starts, filePlaces, markPlaces } = converted;
    const added = messages.slice(count);
    for (const message of added) {
      starts.push(prompt.length);
      const sent = this.convertedMessage(message, added.length >= MANY_MESSAGES);
      if (!sent) continue;
      append(prompt, sent);
      const place = prompt.length - 1;
      if (this.convertedWithFiles.has(message) && filePlaces.at(-1) !== place) filePlaces.push(place);
      if (marksIn(prompt[place]).length > 0 && markPlaces.at(-1) !== place) markPlaces.push(place);
    }
    const others = (conversations.get(messages) ?? []).filter((one) => one !== known);
    const conversation = { builder: this, messages, converted };
    conversations.set(messages, [conversation, ...others.slice(0, MAX_BUILDERS - 1)]);
    return converted;
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

/** The converted form of the first messages of a known conversation. */
function beginningOf(known: Conversation | undefined, count: number): Converted {
  if (known === undefined || count === 0) return { prompt: [], starts: [], filePlaces: [], markPlaces: [] };
  const { prompt, starts, filePlaces, markPlaces } = known.converted;
  const length = starts[count] ?? prompt.length;
  return {
    prompt: prompt.slice(0, length),
    starts: starts.slice(0, count),
    filePlaces: filePlaces.filter((place) => place < length),
    markPlaces: markPlaces.filter((place) => place < length),
  };
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
