import type {
  LanguageModelV4,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { Message, Messages } from '@holdfast/core';
import { LineageCache } from '@holdfast/core/driver';
import { convertMessage } from './convert-message.ts';
import type { SentFiles } from './convert-message.ts';
import type { Prompt } from './prompt.ts';
import type { PromptFiles } from './prompt-files.ts';
import { hasFiles } from './prompt-files.ts';
import { mergedOptions } from './provider-options.ts';

/** What a builder has converted of a conversation. `prompt` grows with the conversation and is never handed out itself. */
interface Conversation {
  readonly builder: PromptBuilder;
  readonly messages: Messages;
  readonly prompt: LanguageModelV4Message[];
  /** The places in `prompt` of the messages with files. It grows too. */
  readonly filePlaces: number[];
}

/** What a builder has converted of a conversation, and the messages that it has yet to convert. */
interface Continuation extends Pick<Conversation, 'prompt' | 'filePlaces'> {
  readonly added: readonly Message[];
}

/** What a prompt depends on besides the conversation. */
export interface PromptParts {
  readonly model: LanguageModelV4;
  readonly files: PromptFiles;
  /** `auto` marks the standing instructions and the end for the provider's cache. */
  readonly promptCache: 'off' | 'auto';
}

const NO_FILES: SentFiles = new Map();
const NOWHERE: readonly never[] = Object.freeze([]);

/** Kept with each conversation: the newest conversation of the last builders that converted it. */
const conversations = new LineageCache<readonly Conversation[]>();
/** How many models can take turns in one conversation before each turn converts all of it again. */
const MAX_BUILDERS = 4;

/**
 * A conversation that grows adds fewer messages than this to a prompt. More at once come of a fork, or of a view that is
 * composed anew for each step, and may come again: their conversions are remembered message by message.
 */
const MANY_MESSAGES = 32;

/**
 * Builds prompts for one model. A conversation that was seen before costs what was added to it: messages are immutable, and
 * so are the converted ones. Each prompt has a list of its own; the messages in it are frozen and shared between prompts.
 */
export class PromptBuilder {
  private readonly model: LanguageModelV4;
  private readonly files: PromptFiles;
  private readonly promptCache: 'off' | 'auto';
  /** Messages that came many at once; `undefined` for a message with nothing to send. */
  private readonly converted = new WeakMap<Message, LanguageModelV4Message | undefined>();
  /** Messages with files. */
  private readonly convertedWithFiles = new WeakMap<Message, LanguageModelV4Message | undefined>();

  constructor({ model, files, promptCache }: PromptParts) {
    this.model = model;
    this.files = files;
    this.promptCache = promptCache;
  }

  /** A promise only when there are files to wait for. It rejects with what a download throws. */
  build(messages: Messages, systemPrompt: string | undefined, signal: AbortSignal): Prompt | Promise<Prompt> {
    const start: LanguageModelV4Prompt = [];
    if (systemPrompt) start.push(Object.freeze({ role: 'system', content: systemPrompt }));
    if (messages.isEmpty) return { messages: start, filePlaces: NOWHERE };
    const withFiles = this.continuation(messages).added.filter(hasFiles);
    if (withFiles.length === 0) return this.wholePrompt(start, messages);
    const converted = withFiles.map((message) => this.convertWithFiles(message, signal));
    return Promise.all(converted).then(() => this.wholePrompt(start, messages));
  }

  private wholePrompt(start: LanguageModelV4Prompt, messages: Messages): Prompt {
    const { prompt, filePlaces } = this.grownPrompt(messages);
    const whole = start.concat(prompt);
    if (this.promptCache === 'auto') addCacheMarks(whole);
    return { messages: whole, filePlaces: filePlaces.map((place) => place + start.length) };
  }

  /** The conversation as far as it is known, and what is new in `messages`. */
  private continuation(messages: Messages): Continuation {
    const known = conversations.get(messages)?.find(({ builder }) => builder === this);
    const added = known && messages.since(known.messages);
    if (added) return { prompt: known.prompt, filePlaces: known.filePlaces, added };
    return { prompt: [], filePlaces: [], added: messages.slice() };
  }

  /** Never waits: of two calls that grow the same conversation, one goes first and the other sees it. */
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

/** Adds a message at the end; results that follow results become one message, as providers expect. */
function append(prompt: LanguageModelV4Message[], message: LanguageModelV4Message): void {
  const last = prompt.at(-1);
  if (message.role === 'tool' && last?.role === 'tool')
    prompt[prompt.length - 1] = joinedResults(last, message);
  else prompt.push(message);
}

type SentToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

/** What was said about the first message as a whole goes to its last part, where it still means the same. */
function joinedResults(first: SentToolMessage, second: SentToolMessage): SentToolMessage {
  const content = [...first.content, ...second.content];
  const end = first.content.length - 1;
  const last = content[end];
  if (last) content[end] = withOptions(last, mergedOptions(first.providerOptions, last.providerOptions));
  Object.freeze(content);
  return Object.freeze({ ...second, content });
}

function withOptions<T extends { providerOptions?: SharedV4ProviderOptions }>(
  value: T,
  providerOptions: SharedV4ProviderOptions | undefined,
): T {
  return providerOptions ? Object.freeze({ ...value, providerOptions }) : value;
}

/** Asks Anthropic's models to cache everything up to and including the message that carries it. */
const CACHE_MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

/** Marks a prompt for the provider's cache: at the standing instructions, and at the end. */
function addCacheMarks(prompt: LanguageModelV4Prompt): void {
  const last = prompt.length - 1;
  for (const index of new Set([prompt[0]?.role === 'system' ? 0 : last, last])) {
    const message = prompt[index];
    if (message) prompt[index] = withOptions(message, mergedOptions(CACHE_MARK, message.providerOptions));
  }
}
