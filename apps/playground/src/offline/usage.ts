import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';

/** The rule of thumb behind every figure here. */
export const charactersPerToken = 4;

type Input = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>;

/**
 * The usage of a call by the rule of thumb: the characters of texts, tool definitions, tool inputs and tool
 * results, rounded up to whole tokens. Files count nothing, since they are not read. `raw` says that it is an
 * estimate.
 */
export function estimateUsage(
  { prompt, tools }: Input,
  content: readonly LanguageModelV4Content[],
): LanguageModelV4Usage {
  const input = toTokens(sum(prompt.map(messageCharacters)) + sum((tools ?? []).map(jsonCharacters)));
  const reasoning = toTokens(sum(content.filter((part) => part.type === 'reasoning').map(partCharacters)));
  const text = toTokens(sum(content.filter((part) => part.type !== 'reasoning').map(partCharacters)));
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: text + reasoning, text, reasoning },
    raw: { isEstimate: true, charactersPerToken },
  };
}

function toTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function messageCharacters(message: LanguageModelV4Message): number {
  return message.role === 'system' ? message.content.length : sum(message.content.map(partCharacters));
}

type Part = LanguageModelV4Content | Exclude<LanguageModelV4Message['content'], string>[number];

function partCharacters(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length;
    case 'tool-call':
      return part.toolName.length + jsonCharacters(part.input);
    case 'tool-result':
      return 'output' in part ? jsonCharacters(part.output) : jsonCharacters(part.result);
    default:
      return 0;
  }
}

function jsonCharacters(value: unknown): number {
  return typeof value === 'string' ? value.length : JSON.stringify(value).length;
}
