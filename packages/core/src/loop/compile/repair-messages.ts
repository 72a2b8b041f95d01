import { checkedCopy } from '../../arguments.ts';
import { HoldfastError } from '../../errors.ts';
import { some } from '../../state/values/frozen-array.ts';
import { LineageCache, List, ListCache } from '../../state/values/list.ts';
import { readMessage, type Message, type MessagePart, type Messages } from '../../state/messages/messages.ts';
import {
  AnswerRepair,
  isPlainExchange,
  isSameList,
  reuseEqual,
  SeenAnswers,
  type Answers,
  type Exchange,
} from './repair-answers.ts';

/**
 * The settled part of a list. The repair of the next list starts after it, if that list begins with the same messages.
 */
interface Settled {
  readonly source: Messages;
  /** The number of settled messages in the source. */
  readonly count: number;
  /** The repaired messages; `undefined` while no message needed repair. */
  readonly messages: Messages | undefined;
  /** True when the settled messages did not change. */
  readonly isSame: boolean;
  /** The responses that `AnswerRepair` has seen, shared with the lists that grow from this one. */
  readonly seen: SeenAnswers;
  /**
   * The writes to `seen` for this list. A higher number in `seen` means that another list has grown from the same
   * beginning.
   */
  readonly writes: number;
}

/** By the repaired list. */
const repairs = new ListCache<Settled>();

/** The settled part of the first list of an execution, for the first list of the next execution. */
interface FirstRepair extends Omit<Settled, 'seen'> {
  readonly answers: Answers;
}

/** By the list before its repair. */
const firstRepairs = new LineageCache<FirstRepair>();

/**
 * Returns the messages with the repairs that `messageCompiler` describes, or the list itself when it needs no repair.
 * `before` is the repaired list of the step before. For a list with the same beginning, only the added messages and the
 * last response are processed.
 * @throws HoldfastError `CONTEXT_INVALID` or `NOT_JSON` for an invalid message; `data.index` is its position.
 */
export function repairedMessages(source: Messages, before: Messages | undefined): Messages {
  if (repairs.get(source)) return source;
  const continued = before && settledInPrevious(repairs.get(before), source);
  if (continued) return repairFrom(source, continued);
  const result = repairFrom(
    source,
    settledInFirst(firstRepairs.get(source), source) ?? nothingSettled(source),
  );
  const settled = repairs.get(result);
  if (settled) {
    const answers = settled.seen.settle();
    const { writes } = answers;
    repairs.set(result, { ...settled, writes });
    firstRepairs.set(source, { ...settled, answers, writes });
  }
  return result;
}

function repairFrom(source: Messages, start: Settled): Messages {
  if (start.messages === undefined && addsPlainExchange(source, start)) return source;
  const added = source.slice(start.count);
  const repair = new AnswerRepair(start.count, start.seen);
  repair.add(exchangesIn(added, start.count));
  const { output, settledCount: count, settledOutput } = repair;
  const { seen } = start;
  if (start.isSame && start.messages === undefined && isSameList(output, added)) {
    repairs.set(source, { source, count, messages: undefined, isSame: true, seen, writes: seen.writes });
    return source;
  }
  const done = output.slice(0, settledOutput);
  const isSame = start.isSame && isSameList(done, added.slice(0, count - start.count));
  const messages = (start.messages ?? List.from(source.slice(0, start.count))).concat(done);
  const isAllSame = start.isSame && isSameList(output, added);
  const result = isAllSame ? source : messages.concat(output.slice(settledOutput));
  repairs.set(result, { source, count, messages, isSame, seen, writes: seen.writes });
  return result;
}

/**
 * True when the list only added a response and the results of its calls, and they need no repair, as in nearly every
 * step.
 */
function addsPlainExchange(source: Messages, { count, seen, isSame }: Settled): boolean {
  if (!isSame || source.length !== count + 2) return false;
  const [answer, results] = [source.at(count), source.last];
  if (answer?.role !== 'assistant' || results?.role !== 'tool' || seen.has(answer.id)) return false;
  if (!isFrozenMessage(answer) || !isFrozenMessage(results)) return false;
  if (!isPlainExchange(answer.content, results.content, seen)) return false;
  seen.add(answer);
  const { length } = source;
  repairs.set(source, { source, count: length, messages: undefined, isSame, seen, writes: seen.writes });
  return true;
}

/** The settled part of a list that continues the list of the step before. */
function settledInPrevious(known: Settled | undefined, source: Messages): Settled | undefined {
  return known && known.seen.writes === known.writes && isStartOf(known, source) ? known : undefined;
}

/** The settled part of a list that continues the first list of the execution before. */
function settledInFirst(known: FirstRepair | undefined, source: Messages): Settled | undefined {
  if (!known || known.answers.writes !== known.writes || !isStartOf(known, source)) return undefined;
  return { ...known, seen: new SeenAnswers(known.answers) };
}

function nothingSettled(source: Messages): Settled {
  return { source, count: 0, messages: undefined, isSame: true, seen: new SeenAnswers(), writes: 0 };
}

function isStartOf({ source: known, count }: Pick<Settled, 'source' | 'count'>, source: Messages): boolean {
  const common = source.commonLength(known);
  // A result right after the settled part would belong to a response in it.
  return common > count || (common === count && source.at(common)?.role !== 'tool');
}

/**
 * Checks the messages and groups them: each message with the results after it. Results before the first such message
 * belong to no call.
 */
function exchangesIn(messages: readonly Message[], from: number): readonly Exchange[] {
  const exchanges: Exchange[] = [];
  let at = from;
  for (const unchecked of messages) {
    const message = checkedAt(unchecked, at);
    if (message.role === 'tool') exchanges.at(-1)?.results.push(message);
    else exchanges.push({ at, head: message, results: [] });
    at++;
  }
  return exchanges;
}

/**
 * Returns a message that is frozen with its parts, as messages of the state are, or a checked and frozen copy of
 * another message.
 */
function checkedAt(message: Message, index: number): Message {
  if (isFrozenMessage(message)) return message;
  try {
    return reuseEqual(message, checkedCopy('message', message, readMessage));
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const text = `A compiler returned an invalid message at index ${index}. ${error.message}`;
    const data = { index, ...(error.data as object | undefined) };
    throw new HoldfastError(error.code, text, { cause: error, data });
  }
}

function isFrozenMessage(message: Partial<Message> | null | undefined): boolean {
  if (typeof message !== 'object' || message === null || !Object.isFrozen(message)) return false;
  const { content } = message;
  return Array.isArray(content) && Object.isFrozen(content) && !some<MessagePart>(content, isNotFrozen);
}

function isNotFrozen(part: MessagePart): boolean {
  return !Object.isFrozen(part);
}
