import type {
  Message,
  MessagePart,
  Messages,
  TextPart,
  ToolMessage,
  ToolOutput,
  ToolResultPart,
} from '../../state/messages/messages.ts';
import { LineageCache, List } from '../../state/values/list.ts';
import { tokensOf, tokensOfContent } from '../inference/token-estimate.ts';
import { withContent } from './repaired-message.ts';

/** The messages may exceed the number of tokens by this factor before the newest results are cut: the number is an estimate. */
const SLACK = 1.3;
/** The least number of characters of a shortened text that stay. */
const KEPT = 200;

/** A result, or a text that exceeds the number of tokens alone. */
type LongPart = ToolResultPart | TextPart;

/** A part that can be shortened: its place, and the tokens that this saves. */
interface LongText {
  readonly index: number;
  readonly whole: LongPart;
  /** The part as it is sent. */
  readonly part: LongPart;
  readonly short: LongPart;
  readonly saved: number;
}

/** The shortened beginning of a list. */
interface Shortening {
  readonly source: Messages;
  readonly maxTokens: number;
  /** The messages to send; the source itself while nothing was shortened. */
  readonly sent: Messages;
  readonly tokens: number;
  /** The parts before the newest exchange that can still be shortened. */
  readonly older: List<LongText>;
  /** Those of the newest exchange, which are shortened last, to what fits. */
  readonly newest: readonly LongText[];
}

const shortenings = new LineageCache<Shortening>();

/**
 * Returns the messages with shortened results of tools, so that they have about `maxTokens` at most, if their other parts allow
 * it. When a message exceeds the number, the largest results before it are shortened to half of the number, of equal ones the
 * oldest first. When the messages still exceed it clearly, the results of the newest exchange are cut to what fits. A text
 * of a message that exceeds the number alone is cut to half of it. The result depends on the messages and on the number alone, and it changes rarely
 * as messages are added, so that prompt caches hold. The cost depends on the added messages, except when results are shortened.
 */
export function withShortResults(messages: Messages, maxTokens: number): Messages {
  const known = shortenings.get(messages);
  const isContinued =
    known?.maxTokens === maxTokens && messages.commonLength(known.source) === known.source.length;
  const shortening = isContinued
    ? { ...known, source: messages, sent: known.sent === known.source ? messages : known.sent }
    : { source: messages, maxTokens, sent: messages, tokens: 0, older: List.empty<LongText>(), newest: [] };
  const grown = withAdded(shortening, isContinued ? known.source.length : 0);
  shortenings.set(messages, grown);
  return grown.sent;
}

/** Adds the messages of the source from an index on. */
function withAdded(known: Shortening, from: number): Shortening {
  const { source, maxTokens } = known;
  let { tokens, older, newest } = known;
  let changed: Message[] | undefined;
  const added = source.slice(from);
  for (const [at, message] of added.entries()) {
    if (message.role !== 'tool') [older, newest] = [older.concat(newest.filter(isLong)), []];
    newest = [...newest, ...longTextsIn(message, from + at, maxTokens)];
    tokens += tokensOf([message]);
    changed?.push(message);
    if (tokens <= maxTokens || (older.isEmpty && !newest.some(isLong))) continue;
    changed ??= [...known.sent.slice(0, from), ...added.slice(0, at + 1)];
    [tokens, older] = shortened(changed, tokens, older, maxTokens);
    if (tokens > maxTokens * SLACK) [tokens, newest] = cutToFit(changed, tokens, newest, maxTokens);
  }
  const isSame = changed === undefined && known.sent === source;
  const sent = isSame ? source : changed ? List.from(changed) : known.sent.concat(added);
  return { ...known, sent, tokens, older, newest };
}

function isLong({ saved }: LongText): boolean {
  return saved > 0;
}

/**
 * Shortens the largest of the parts in place: results until the messages have half of the tokens, and texts until they have the
 * tokens. Returns the tokens of the messages and the other parts.
 */
function shortened(
  messages: Message[],
  tokens: number,
  parts: List<LongText>,
  maxTokens: number,
): [tokens: number, others: List<LongText>] {
  let left = tokens;
  const done = new Set<LongText>();
  for (const long of parts.toArray().toSorted(byUse)) {
    if (left <= (isResult(long) ? maxTokens / 2 : maxTokens)) break;
    replace(messages, long, long.short);
    left -= long.saved;
    done.add(long);
  }
  return [left, List.from(parts.filter((long) => !done.has(long)))];
}

/** Results before texts, then the largest, then the oldest first. */
function byUse(left: LongText, right: LongText): number {
  return (
    Number(isResult(right)) - Number(isResult(left)) || right.saved - left.saved || left.index - right.index
  );
}

function isResult({ whole }: LongText): boolean {
  return whole.type === 'tool-result';
}

/** Cuts the largest of the newest parts in place to the same length, so that the messages have the tokens. */
function cutToFit(
  messages: Message[],
  tokens: number,
  newest: readonly LongText[],
  maxTokens: number,
): [tokens: number, newest: readonly LongText[]] {
  const sizes = newest.map(({ whole }) => tokensOfContent([whole]));
  const sentSizes = newest.map(({ part }) => tokensOfContent([part]));
  const room = maxTokens - (tokens - sum(sentSizes));
  const share = largestShare(sizes, room);
  const cut = newest.map((long, at) => {
    const most = isResult(long) ? share : Math.min(share, maxTokens / 2);
    if ((sizes[at] as number) <= most) return long;
    const part = cutPart(long.whole, most);
    replace(messages, long, part);
    return { ...long, part, saved: tokensOfContent([part]) - tokensOfContent([long.short]) };
  });
  const cutSizes = cut.map(({ part }) => tokensOfContent([part]));
  return [tokens - sum(sentSizes) + sum(cutSizes), cut];
}

/** The size to which the larger ones of several sizes are cut, so that all have the room together. */
function largestShare(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - at);
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function replace(messages: Message[], { index, part }: LongText, by: LongPart): void {
  const message = messages[index] as ToolMessage;
  messages[index] = withContent(
    message,
    message.content.map((each) => (each === part ? (by as ToolResultPart) : each)),
  );
}

function longTextsIn(message: Message, index: number, maxTokens: number): readonly LongText[] {
  const found: LongText[] = [];
  for (const part of message.content) {
    if (!canBeCut(message, part, maxTokens)) continue;
    const short = cutPart(part, 0);
    if (short === part) continue;
    const saved = tokensOfContent([part]) - tokensOfContent([short]);
    found.push({ index, whole: part, part, short, saved });
  }
  return found;
}

/** No character of a text has more tokens, and none has fewer. */
const TOKENS_PER_UNIT = { most: 3, least: 0.06 };

/** True for a result of a tool, and for a text that exceeds the number of tokens alone. */
function canBeCut({ role }: Message, part: MessagePart, maxTokens: number): part is LongPart {
  if (part.type === 'tool-result') return role === 'tool';
  if (part.type !== 'text' || part.text.length * TOKENS_PER_UNIT.most <= maxTokens) return false;
  return tokensOfContent([part]) > maxTokens;
}

/** Returns a part with its first characters and a mark, cut to the tokens; the part itself when it is short. */
function cutPart(part: LongPart, tokens: number): LongPart {
  const text = part.type === 'text' ? part.text : outputInWords(part.output);
  if (text.length <= 2 * KEPT && !hasFiles(part)) return part;
  let kept = Math.min(text.length, Math.max(KEPT, Math.floor(tokens / TOKENS_PER_UNIT.least)));
  for (;;) {
    const cut = withText(part, cutText(text, kept));
    if (kept <= KEPT) return cut;
    const size = tokensOfContent([cut]);
    if (size <= tokens) return cut;
    kept = Math.max(KEPT, Math.floor(kept * Math.min(0.98, tokens / size)));
  }
}

function hasFiles(part: LongPart): boolean {
  return (
    part.type === 'tool-result' &&
    part.output.type === 'content' &&
    part.output.value.some(({ type }) => type !== 'text')
  );
}

function withText(part: LongPart, text: string): LongPart {
  if (part.type === 'text') return Object.freeze({ ...part, text });
  const isError = part.output.type === 'error-text' || part.output.type === 'error-json';
  return Object.freeze({
    ...part,
    output: Object.freeze({ type: isError ? 'error-text' : 'text', value: text }),
  });
}

function cutText(text: string, kept: number): string {
  if (text.length <= kept) return text;
  const mark = `[Shortened: the first ${kept} of ${text.length} characters are shown, because the conversation is too long.]`;
  return `${text.slice(0, kept).toWellFormed()}\n${mark}`;
}

/** Returns an output as text, with the names of its files. */
export function outputInWords(output: ToolOutput): string {
  if (output.type === 'execution-denied') return `nothing: ${output.reason ?? 'denied'}`;
  if (output.type !== 'content')
    return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
  return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}
