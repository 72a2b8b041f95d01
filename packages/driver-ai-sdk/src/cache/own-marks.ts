import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { CacheTtl } from './cache-rules.ts';

/** The lifetimes of the marks that the application set: those in the messages, and those in the request and its tools. */
export function ownMarks(
  { tools, providerOptions }: LanguageModelV4CallOptions,
  inMessages: readonly CacheTtl[],
): readonly CacheTtl[] {
  const marks = [...inMessages];
  addMark(marks, providerOptions);
  for (const tool of tools ?? []) if (tool.type === 'function') addMark(marks, tool.providerOptions);
  return marks;
}

/** The lifetimes of the marks in a message and its parts. */
export function marksIn(message: LanguageModelV4Message | undefined): readonly CacheTtl[] {
  const marks: CacheTtl[] = [];
  addMark(marks, message?.providerOptions);
  if (message === undefined || typeof message.content === 'string') return marks;
  for (const part of message.content) addMark(marks, part.providerOptions);
  return marks;
}

function addMark(marks: CacheTtl[], options: SharedV4ProviderOptions | undefined): void {
  const ttl = options && ownTtl(options);
  if (ttl !== undefined) marks.push(ttl);
}

/** The names of a mark in the options of Anthropic, OpenRouter and Bedrock. */
const MARKS = ['cacheControl', 'cache_control', 'cachePoint'];

/** The lifetime of the mark in the options; `undefined` without a mark. */
export function ownTtl(options: SharedV4ProviderOptions = {}): CacheTtl | undefined {
  for (const members of Object.values(options)) {
    const mark = MARKS.map((name) => members?.[name]).find(Boolean);
    if (mark) return hasLongTtl(mark) ? '1h' : '5m';
  }
  return undefined;
}

function hasLongTtl(mark: unknown): boolean {
  return typeof mark === 'object' && mark !== null && 'ttl' in mark && mark.ttl === '1h';
}
