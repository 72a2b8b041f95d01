import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ProviderTool,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { copyOf } from '../values/copy.ts';
import { mergedOptions } from '../values/provider-options.ts';
import type { CacheTtl } from './cache-rules.ts';
import { ownMarks, ownTtl } from './own-marks.ts';

/** Anthropic and Bedrock take at most 4 marks in a request. */
const MAX_MARKS = 4;

type Tools = readonly (LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[];

/** A value that can have a mark. */
interface Markable {
  readonly providerOptions?: SharedV4ProviderOptions;
}

/**
 * Marks the end of the prompt, the end of the prompt of the call before, the system prompt and the tools, in this order
 * until the request has 4 marks. The call before cached what lies before its end. A provider searches for that only 20
 * blocks back from a mark, and one step can add more.
 *
 * Marks of the application count and stay. Marks of two lifetimes must stand in an order that the driver does not know,
 * so the driver adds none when the application has marks with another lifetime. `inMessages`: those in the messages.
 */
export function withMarks(
  options: LanguageModelV4CallOptions,
  mark: SharedV4ProviderOptions,
  ttl: CacheTtl,
  inMessages: readonly CacheTtl[],
): LanguageModelV4CallOptions {
  const own = ownMarks(options, inMessages);
  if (own.some((lifetime) => lifetime !== ttl)) return options;
  const marked = new Marked(options, mark, MAX_MARKS - own.length);
  for (const index of inputEnds(options.prompt)) marked.markMessage(index);
  if (options.prompt[0]?.role === 'system') marked.markMessage(0);
  marked.markTools();
  return marked.options;
}

/** Call options with marks. */
class Marked {
  readonly options: LanguageModelV4CallOptions;
  private readonly mark: SharedV4ProviderOptions;
  private left: number;

  constructor(options: LanguageModelV4CallOptions, mark: SharedV4ProviderOptions, left: number) {
    this.options = { ...options, prompt: options.prompt.slice() };
    this.mark = mark;
    this.left = left;
  }

  markMessage(index: number): void {
    const message = this.options.prompt[index];
    if (message && this.takesMark(message)) this.options.prompt[index] = this.marked(message);
  }

  /** Marks the last tool. The mark of the system prompt covers the tools too, for agents with the same system prompt. */
  markTools(): void {
    const tools: Tools = this.options.tools ?? [];
    const last = tools.at(-1);
    if (last?.type !== 'function' || !this.takesMark(last)) return;
    this.options.tools = [...tools.slice(0, -1), this.marked(last)];
  }

  private takesMark({ providerOptions }: Markable): boolean {
    return this.left > 0 && ownTtl(providerOptions) === undefined;
  }

  private marked<T extends Markable>(value: T): T {
    this.left--;
    return { ...value, providerOptions: mergedOptions(copyOf(this.mark), value.providerOptions) };
  }
}

/** The indexes of the messages with which this prompt and the prompt of the call before end. */
function inputEnds(prompt: LanguageModelV4Prompt): readonly number[] {
  const ends: number[] = [];
  for (let index = prompt.length - 1; index >= 0 && ends.length < 2; index--) {
    const isEnd = index === prompt.length - 1 || prompt[index + 1]?.role === 'assistant';
    if (isEnd && isInput(prompt, index)) ends.push(index);
  }
  return ends;
}

function isInput(prompt: LanguageModelV4Prompt, index: number): boolean {
  const role = prompt[index]?.role;
  return role === 'user' || role === 'tool';
}
