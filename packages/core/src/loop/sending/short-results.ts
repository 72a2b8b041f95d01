import type {
  Message,
  Messages,
  ToolMessage,
  ToolOutput,
  ToolResultPart,
} from '../../state/messages/messages.ts';
import { LineageCache, List } from '../../state/values/list.ts';
import { tokensOf, tokensOfContent } from '../inference/token-estimate.ts';
import { withContent } from './repaired-message.ts';

/** The characters of a shortened result that stay. */
const KEPT = 200;

/** A result that can be shortened: its place, and the tokens that this saves. */
interface LongResult {
  readonly index: number;
  readonly part: ToolResultPart;
  readonly short: ToolResultPart;
  readonly saved: number;
}

/** The shortened beginning of a list. */
interface Shortening {
  readonly source: Messages;
  readonly maxTokens: number;
  /** The messages to send; the source itself while nothing was shortened. */
  readonly sent: Messages;
  readonly tokens: number;
  /** The results before the newest exchange that can still be shortened. */
  readonly older: List<LongResult>;
  /** Those of the newest exchange, which are never shortened. */
  readonly newest: readonly LongResult[];
}

const shortenings = new LineageCache<Shortening>();

/**
 * Returns the messages with shortened results of tools, so that they have about `maxTokens` at most, if their other parts allow
 * it. When a message exceeds the number, the largest results before it are shortened to half of the number, of equal ones the
 * oldest first. Results of the newest exchange are whole. The result depends on the messages and on the number alone, and it
 * changes rarely as messages are added, so that prompt caches hold. The cost depends on the added messages, except when results
 * are shortened.
 */
export function withShortResults(messages: Messages, maxTokens: number): Messages {
  const known = shortenings.get(messages);
  const isContinued =
    known?.maxTokens === maxTokens && messages.commonLength(known.source) === known.source.length;
  const shortening = isContinued
    ? { ...known, source: messages, sent: known.sent === known.source ? messages : known.sent }
    : { source: messages, maxTokens, sent: messages, tokens: 0, older: List.empty<LongResult>(), newest: [] };
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
    if (message.role !== 'tool') [older, newest] = [older.concat(newest), []];
    newest = [...newest, ...longResultsIn(message, from + at)];
    tokens += tokensOf([message]);
    changed?.push(message);
    if (tokens <= maxTokens || older.isEmpty) continue;
    changed ??= [...known.sent.slice(0, from), ...added.slice(0, at + 1)];
    [tokens, older] = shortened(changed, tokens, older, maxTokens / 2);
  }
  const isSame = changed === undefined && known.sent === source;
  const sent = isSame ? source : changed ? List.from(changed) : known.sent.concat(added);
  return { ...known, sent, tokens, older, newest };
}

/** Shortens the largest of the results in place, until the messages have the tokens. Returns the tokens and the other results. */
function shortened(
  messages: Message[],
  tokens: number,
  results: List<LongResult>,
  goal: number,
): [tokens: number, others: List<LongResult>] {
  let left = tokens;
  const done = new Set<LongResult>();
  for (const result of results.toArray().toSorted((a, b) => b.saved - a.saved || a.index - b.index)) {
    if (left <= goal) break;
    const message = messages[result.index] as ToolMessage;
    const content = message.content.map((part) => (part === result.part ? result.short : part));
    messages[result.index] = withContent(message, content);
    left -= result.saved;
    done.add(result);
  }
  return [left, List.from(results.filter((result) => !done.has(result)))];
}

function longResultsIn({ role, content }: Message, index: number): readonly LongResult[] {
  if (role !== 'tool') return [];
  return content.flatMap((part): readonly LongResult[] => {
    const short = shortResult(part);
    if (short === part) return [];
    return [{ index, part, short, saved: tokensOfContent([part]) - tokensOfContent([short]) }];
  });
}

/** Returns the result with its first characters and a mark, or the result itself when it is short. */
function shortResult(part: ToolResultPart): ToolResultPart {
  const { output } = part;
  const text = outputInWords(output);
  const hasFiles = output.type === 'content' && output.value.some(({ type }) => type !== 'text');
  if (text.length <= 2 * KEPT && !hasFiles) return part;
  const isError = output.type === 'error-text' || output.type === 'error-json';
  const mark = `[Shortened: the first ${KEPT} of ${text.length} characters are shown, because the conversation is too long.]`;
  const value = text.length <= KEPT ? text : `${text.slice(0, KEPT).toWellFormed()}\n${mark}`;
  return Object.freeze({ ...part, output: Object.freeze({ type: isError ? 'error-text' : 'text', value }) });
}

/** Returns an output as text, with the names of its files. */
export function outputInWords(output: ToolOutput): string {
  if (output.type === 'execution-denied') return `nothing: ${output.reason ?? 'denied'}`;
  if (output.type !== 'content')
    return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
  return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}
