import type { AgentState } from '../../state/agent-state.ts';
import type { Message, MessagePart, Messages } from '../../state/messages/messages.ts';
import { Usage } from '../../state/inference/usage.ts';
import type { InferenceRequest } from './driver.ts';

/** The size of a file in tokens, whatever the length of its base64. */
const FILE_TOKENS = 1_000;

/**
 * Estimates how many tokens the messages have, from their scripts and from what the provider counted in the step before: when
 * all of its input is shown again, the estimate is that count, prompt and tools included, plus the added messages.
 */
export function estimateTokens({ lastStep }: AgentState, view: Messages): number {
  const counted = lastStep?.response?.usage.inputTokens;
  if (lastStep === undefined || counted === undefined) return tokensOf(view);
  const ratio = ratioOf(counted, tokensOf(lastStep.input));
  const added = view.since(lastStep.input);
  return added === undefined ? ratio * tokensOf(view) : counted + ratio * tokensOf(added);
}

/** How many tokens the provider counts for one that was estimated. Few messages tell too little: the prompt counts too. */
function ratioOf(counted: number, estimated: number): number {
  return estimated < 500 ? 1 : Math.min(3, Math.max(0.5, counted / estimated));
}

/** Estimates the tokens of a request: of its messages, its system prompt and its tools. */
export function tokensOfRequest({ messages, systemPrompt = '', tools }: InferenceRequest): number {
  const described = tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]);
  return tokensOf(messages) + tokensOfText(systemPrompt) + tokensOfText(JSON.stringify(described));
}

/**
 * Returns the usage of a call that a provider may bill: the reported one, or else an estimate from the request and from the
 * part of the response that arrived.
 */
export function usageOrEstimate(
  reported: Usage,
  request: InferenceRequest,
  content: readonly MessagePart[] = [],
): Usage {
  if (reported.totalTokens > 0 || reported.cost !== undefined) return reported;
  return Usage.estimated({
    inputTokens: Math.ceil(tokensOfRequest(request)),
    outputTokens: Math.ceil(tokensOfContent(content)),
  });
}

const known = new WeakMap<Message, number>();

/** Estimates the tokens of messages by their scripts. */
export function tokensOf(messages: Iterable<Message>): number {
  let sum = 0;
  for (const message of messages) {
    const tokens = known.get(message) ?? tokensOfContent(message.content);
    known.set(message, tokens);
    sum += tokens;
  }
  return sum;
}

function tokensOfContent(content: readonly MessagePart[]): number {
  let sum = 0;
  for (const part of content) {
    const isBinary = part.type === 'file' && part.data.type !== 'text';
    sum += isBinary ? FILE_TOKENS : tokensOfText(JSON.stringify(part));
  }
  return sum;
}

/** From this length on, letters and digits without white space are no words, but base64, keys or hashes. */
const LONGEST_WORD = 24;
/** The tokens of a character of such a text. */
const OPAQUE = 0.75;
const LETTER = 0.25;

/**
 * Estimates the tokens of a text, at or above the counts of the tokenizers of 2024 and later (o200k, cl100k): four letters of
 * an English text are a token, and a Chinese character is one.
 */
function tokensOfText(text: string): number {
  let [sum, run, before] = [0, 0, -1];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const isRepeated = unit === before && unit < 0x80;
    run = isWordUnit(unit) && !isRepeated ? run + 1 : 0;
    sum += isRepeated ? LETTER : run > LONGEST_WORD ? OPAQUE : tokensOfUnit(unit);
    before = unit;
  }
  return sum;
}

function isWordUnit(unit: number): boolean {
  const isLetter = (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
  return isLetter || (unit >= 47 && unit <= 57) || unit === 43 || unit === 45 || unit === 61 || unit === 95;
}

/** The tokens of one UTF-16 unit, by the script that it belongs to. */
function tokensOfUnit(unit: number): number {
  if (unit < 0x80) return (unit | 32) >= 97 && (unit | 32) <= 122 ? LETTER : unit <= 32 ? LETTER : 0.5;
  if (unit < 0x530) return 0.5; // accents, Greek, Cyrillic
  if (unit < 0x2000) return 0.8; // Hebrew, Arabic, scripts of India and South-East Asia
  if (unit >= 0xd800 && unit < 0xe000) return 1.5; // half of an emoji
  return 1.1; // Chinese, Japanese, Korean, symbols
}
