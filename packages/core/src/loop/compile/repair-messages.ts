import { HoldfastError } from '../../errors.ts';
import { checkedCopy } from '../../document.ts';
import { some } from '../../state/values/frozen-array.ts';
import { LineageCache, List, ListCache } from '../../state/values/list.ts';
import type { Message, MessagePart, Messages } from '../../state/messages/messages.ts';
import { readMessage } from '../../state/messages/messages.ts';
import { isPlainExchange } from './answer-parts.ts';
import { AnswerRepair, isSameList, reuseEqual, SeenAnswers } from './repair-answers.ts';
import type { Answers, Exchange } from './repair-answers.ts';

/** How far a list is settled. The next list is repaired from there, if it begins with the same messages. */
interface Settled {
  readonly source: Messages;
  /** How many messages of the source are settled. */
  readonly count: number;
  /** What became of them; `undefined` while nothing had to be repaired. */
  readonly messages: Messages | undefined;
  /** They are as they were. */
  readonly isSame: boolean;
  /** What `AnswerRepair` knows of it. Shared with the lists that grow from it. */
  readonly seen: SeenAnswers;
  /** How often `seen` was written for this list: if more often, another list has grown from the same beginning. */
  readonly writes: number;
}

/** By the repaired list. */
const repairs = new ListCache<Settled>();

/** How far the first list of an execution is settled, for the first list of the execution after it. */
interface FirstRepair extends Omit<Settled, 'seen'> {
  readonly answers: Answers;
}

/** By the list that was repaired. */
const firstRepairs = new LineageCache<FirstRepair>();

/**
 * The messages as `messageCompiler` promises them; the list itself when there is nothing to repair. `before` is the
 * repaired list of the step before: what begins as that one did costs what was added, and the last answer.
 * @throws HoldfastError `CONTEXT_INVALID` or `NOT_JSON` for something that is not a message; `data.index` says where.
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

/** Was just an answer added, and the results of its calls, with nothing to repair, as in nearly every step? */
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

/** How far a list is settled that goes on from the one of the step before. */
function settledInPrevious(known: Settled | undefined, source: Messages): Settled | undefined {
  return known && known.seen.writes === known.writes && isStartOf(known, source) ? known : undefined;
}

/** How far a list is settled that goes on from the first one of the execution before. */
function settledInFirst(known: FirstRepair | undefined, source: Messages): Settled | undefined {
  if (!known || known.answers.writes !== known.writes || !isStartOf(known, source)) return undefined;
  return { ...known, seen: new SeenAnswers(known.answers) };
}

function nothingSettled(source: Messages): Settled {
  return { source, count: 0, messages: undefined, isSame: true, seen: new SeenAnswers(), writes: 0 };
}

function isStartOf({ source: known, count }: Pick<Settled, 'source' | 'count'>, source: Messages): boolean {
  const common = source.commonLength(known);
  // A result right after the settled part would belong to an answer in it.
  return common > count || (common === count && source.at(common)?.role !== 'tool');
}

/** Checked messages, parted where a message is not a result; results before the first such message belong to no call. */
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

/** A message that is frozen with its parts, as all of ours are; of any other a checked, frozen copy. */
function checkedAt(message: Message, index: number): Message {
  if (isFrozenMessage(message)) return message;
  try {
    return reuseEqual(message, checkedCopy('message', message, readMessage));
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const text = `Message ${index} of what a compiler gave cannot be used. ${error.message}`;
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
