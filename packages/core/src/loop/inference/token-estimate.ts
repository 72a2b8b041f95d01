import type { AgentState } from '../../state/agent-state.ts';
import type { Message, MessagePart, Messages, ToolContentPart } from '../../state/messages/messages.ts';
import { LineageCache, List } from '../../state/values/list.ts';
import { Usage } from '../../state/inference/usage.ts';
import type { InferenceResponse } from '../../state/inference/inference-response.ts';
import { billedUsage, driverFailureOf } from './driver-error.ts';
import type { InferenceRequest } from './driver.ts';

/** The size of a file in tokens, whatever the length of its base64. */
const FILE_TOKENS = 1_000;

/**
 * Estimates how many tokens a request has, from the scripts of its messages and from what the provider counted in the step
 * before: when all of its input is shown again, the estimate is that count plus the added messages. `start` are the tokens of
 * the system prompt and the tools.
 */
export function estimateTokens({ lastStep }: AgentState, view: Messages, start: number): number {
  const counted = lastStep?.response?.usage.inputTokens;
  if (lastStep === undefined || counted === undefined) return start + tokensOf(view);
  const ratio = ratioOf(counted, start + tokensOf(lastStep.input));
  const added = view.since(lastStep.input);
  return added === undefined ? ratio * (start + tokensOf(view)) : counted + ratio * tokensOf(added);
}

/** How many tokens the provider counts for one that was estimated. Few messages tell too little: the prompt counts too. */
function ratioOf(counted: number, estimated: number): number {
  return estimated < 500 ? 1 : Math.min(3, Math.max(0.5, counted / estimated));
}

/** Estimates the tokens of a request: of its messages, its system prompt and its tools. */
export function tokensOfRequest(request: RequestStart & Pick<InferenceRequest, 'messages'>): number {
  return tokensOf(request.messages) + tokensOfStart(request);
}

/** The part of a request before its messages. */
type RequestStart = Pick<InferenceRequest, 'systemPrompt' | 'tools'>;

const toolTokens = new WeakMap<RequestStart['tools'], number>();

/** Estimates the tokens of a system prompt and of tools. */
export function tokensOfStart({ systemPrompt = '', tools }: RequestStart): number {
  let tokens = toolTokens.get(tools);
  if (tokens === undefined) {
    const described = tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]);
    tokens = tokensOfText(JSON.stringify(described));
    toolTokens.set(tools, tokens);
  }
  return tokens + tokensOfText(systemPrompt);
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

/** The usage that the provider bills for a failed call. It may bill a response of which a part arrived, and one that took too long. */
export function usageOfFailure(
  error: unknown,
  partial: InferenceResponse | undefined,
  request: InferenceRequest,
): Usage {
  const usage = billedUsage(error, partial);
  const isBilled = partial !== undefined || driverFailureOf(error).kind === 'timeout';
  return isBilled ? usageOrEstimate(usage, request, partial?.content) : usage;
}

const known = new WeakMap<Message, number>();
const knownLists = new WeakMap<Messages, number>();
const latestLists = new LineageCache<Messages>();

/** Estimates the tokens of messages by their scripts. For a list that has grown, only the added messages are processed. */
export function tokensOf(messages: Iterable<Message>): number {
  if (!(messages instanceof List)) return sumOf(messages);
  const before = latestLists.get(messages);
  const added = before && messages.since(before);
  const sum =
    knownLists.get(messages) ?? (added ? (knownLists.get(before) as number) + sumOf(added) : sumOf(messages));
  knownLists.set(messages, sum);
  latestLists.set(messages, messages);
  return sum;
}

function sumOf(messages: Iterable<Message>): number {
  let sum = 0;
  for (const message of messages) {
    const tokens = known.get(message) ?? tokensOfContent(message.content);
    known.set(message, tokens);
    sum += tokens;
  }
  return sum;
}

/** Estimates the tokens of parts of a message. */
export function tokensOfContent(content: readonly MessagePart[]): number {
  let sum = 0;
  for (const part of content) {
    if (part.type === 'file' && part.data.type !== 'text') sum += FILE_TOKENS;
    else if (part.type === 'tool-result' && part.output.type === 'content')
      sum += tokensOfContentOutput(part.output.value);
    else sum += tokensOfText(JSON.stringify(part));
  }
  return sum;
}

/** Estimates the tokens of a result of several parts, which may be files. */
function tokensOfContentOutput(parts: readonly ToolContentPart[]): number {
  return parts.reduce((sum, part) => sum + (part.type === 'text' ? tokensOfText(part.text) : FILE_TOKENS), 0);
}

/** From this length on, letters and digits without white space are no words, but base64, keys or hashes. */
const LONGEST_WORD = 24;
/** The tokens of a character of such a text. */
const OPAQUE = 0.75;

/**
 * Estimates the tokens of a text, at or above the counts of the tokenizers cl100k and o200k: an English word is one or two
 * tokens, three digits are one, and a Chinese character is one.
 */
export function tokensOfText(text: string): number {
  let [sum, run, before, kindBefore] = [0, 0, -1, SPACE];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const kind = kindOf(unit);
    const isRepeated = unit === before;
    if (!isWordUnit(unit, kind)) run = 0;
    else if (!isRepeated) run++;
    if (kind === OTHER) sum += tokensOfUnit(unit);
    else if (isRepeated) sum += REPEATED[kind] as number;
    else sum += run > LONGEST_WORD ? OPAQUE : ((AFTER[kind] as readonly number[])[kindBefore] as number);
    [before, kindBefore] = [unit, kind];
  }
  return sum;
}

const [SMALL, CAPITAL, DIGIT, SPACE, SIGN, OTHER] = [0, 1, 2, 3, 4, 5];

/** The tokens of an ASCII character, by its kind and by the kind of the character before it. */
const AFTER: readonly (readonly number[])[] = [
  // small, capital, digit, space, sign, other
  [0.17, 0.17, 0.7, 0.7, 0.6, 0.7],
  [0.7, 0.3, 0.7, 0.75, 0.6, 0.7],
  [1, 1, 0.34, 1.4, 1, 1],
  [0.2, 0.2, 0.3, 0.2, 0.3, 0.3],
  [0.6, 0.6, 1, 0.8, 0.5, 1],
];
/** The tokens of an ASCII character that repeats the one before it. */
const REPEATED: readonly number[] = [0.25, 0.25, 0.34, 0.06, 0.25];

/** The kind of a UTF-16 unit. */
function kindOf(unit: number): number {
  if (unit >= 0x80) return OTHER;
  if (unit >= 97 && unit <= 122) return SMALL;
  if (unit >= 65 && unit <= 90) return CAPITAL;
  if (unit >= 48 && unit <= 57) return DIGIT;
  return unit <= 32 ? SPACE : SIGN;
}

/** True for the characters of base64, of URLs and of keys. */
function isWordUnit(unit: number, kind: number): boolean {
  return kind <= DIGIT || unit === 43 || unit === 45 || unit === 47 || unit === 61 || unit === 95;
}

/** The tokens of a UTF-16 unit below each end, beyond ASCII. */
const SCRIPTS: readonly (readonly [end: number, tokens: number])[] = [
  [0x250, 1.2], // Latin letters with accents
  [0x400, 0.95], // Greek
  [0x530, 0.55], // Cyrillic
  [0x600, 1.1], // Armenian, Hebrew
  [0x900, 0.8], // Arabic
  [0x980, 1.1], // Devanagari
  [0xe00, 1.5], // other scripts of India
  [0xe80, 0.9], // Thai
  [0x1100, 2.1], // Lao, Tibetan, Burmese, Georgian
  [0x1e00, 2.8], // Ethiopic, Khmer, Mongolian
  [0x1f00, 1.2], // Vietnamese
  [0x2e80, 1.6], // symbols
  [0xd800, 1.2], // Chinese, Japanese, Korean
  [0xe000, 1.5], // half of an emoji
];
const REST = 1.2;

function tokensOfUnit(unit: number): number {
  for (const [end, tokens] of SCRIPTS) if (unit < end) return tokens;
  return REST;
}
