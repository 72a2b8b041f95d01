import { isSameJson } from '../../json.ts';
import {
  assembleMessage,
  type AssistantMessage,
  type AssistantPart,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
} from '../../state/messages/messages.ts';
import { hasResult, isReasoning } from '../../state/messages/message-parts.ts';
import { isHandledByLoop } from '../../state/messages/call-marks.ts';
import { errorOutput, resultPart } from '../../state/tools/tool-execution.ts';

/** The content of a response. */
type Content = readonly AssistantPart[];

/** A message other than a tool result, and the tool results that follow it. */
export interface Exchange {
  /** The position in the list. */
  readonly at: number;
  readonly head: Exclude<Message, ToolMessage>;
  readonly results: ToolMessage[];
}

/** A call that waits for its result, and the original id of the call, which its result has. */
interface OpenCall {
  readonly givenId: string;
  readonly call: ToolCallPart;
}

/**
 * Repairs responses of a model and their results in order. A list is settled up to a response that waits for no result:
 * later messages cannot change the settled part.
 */
export class AnswerRepair {
  /** The repaired messages. */
  readonly output: Message[] = [];
  /** The position of the first message in the list that is not settled. */
  settledCount: number;
  /** The number of settled messages in the output. */
  settledOutput = 0;
  private readonly seen: SeenAnswers;
  /** The responses that join `seen` when they are settled. */
  private recent: Answers | undefined;
  /** Calls of the provider that have no result so far in this turn. */
  private awaited: Set<string> | undefined;

  constructor(settledCount: number, seen: SeenAnswers) {
    this.settledCount = settledCount;
    this.seen = seen;
  }

  /**
   * Repairs all messages. Call this method once with all of them, because later messages determine which earlier ones
   * stay.
   */
  add(all: readonly Exchange[]): void {
    const exchanges = this.withoutRepeated(all);
    for (let index = 0; index < exchanges.length; index++) {
      const exchange = exchanges[index] as Exchange;
      const { at, head, results } = exchange;
      if (head.role !== 'assistant') {
        if (head.role === 'user') this.awaited = undefined;
        this.output.push(head);
      } else if (!this.awaited?.size && this.isPlain(head, results)) {
        this.addPlain(head, results);
        this.settle(at + 1 + results.length);
      } else {
        if (!this.awaited?.size) this.settle(at);
        this.addAnswer(head, results, (id) => isAbandoned(id, exchanges, index + 1));
      }
    }
  }

  private isPlain({ content }: AssistantMessage, results: readonly ToolMessage[]): boolean {
    return results.length < 2 && isPlainExchange(content, results[0]?.content, this);
  }

  private addPlain(answer: AssistantMessage, results: readonly ToolMessage[]): void {
    this.output.push(answer, ...results);
    this.seen.add(answer);
  }

  private withoutRepeated(all: readonly Exchange[]): readonly Exchange[] {
    if (all.length === 1 && !this.seen.has((all[0] as Exchange).head.id)) return all;
    const answers = new Map<string, Content>();
    return all.filter(({ head }) => {
      if (head.role !== 'assistant') return true;
      const earlier = answers.get(head.id) ?? this.seen.get(head.id);
      answers.set(head.id, head.content);
      return earlier === undefined || !isSameJson(earlier, head.content);
    });
  }

  private get notSettled(): Answers {
    return (this.recent ??= new Answers());
  }

  /** True when an earlier response, or one of its calls, has this id. */
  has(id: string): boolean {
    return this.seen.has(id) || this.recent?.has(id) === true;
  }

  private settle(at: number): void {
    if (this.recent) this.seen.addAll(this.recent);
    this.recent = undefined;
    this.settledCount = at;
    this.settledOutput = this.output.length;
  }

  private addAnswer(
    answer: AssistantMessage,
    results: readonly ToolMessage[],
    isUnanswered: (toolCallId: string) => boolean,
  ): void {
    const keptContent = withoutLooseReasoning(answer.content, this.keptParts(answer.content, isUnanswered));
    if (keptContent.some(saysSomething)) this.addContent(answer, keptContent, results);
    this.notSettled.set(answer.id, answer.content);
  }

  private addContent(answer: AssistantMessage, keptContent: Content, results: readonly ToolMessage[]): void {
    const open: OpenCall[] = [];
    this.output.push(withContent(answer, this.withOwnIds(keptContent, open)));
    this.addResults(results, open);
    if (open.length === 0) return;
    // The id is that of the response, and there is no time: compiling twice gives the same message.
    const content = Object.freeze(open.map(missingResult));
    this.output.push(reuseEqual(answer.content, assembleMessage('tool', { id: answer.id, content })));
  }

  /**
   * The parts that stay. A provider's call without a result does not stay, and neither does a result without its call.
   */
  private keptParts(content: Content, isUnanswered: (toolCallId: string) => boolean): readonly boolean[] {
    return content.map((part, index) => {
      if (part.type === 'tool-result') return this.awaited?.delete(part.toolCallId) === true;
      if (part.type !== 'tool-call' || isHandledByLoop(part)) return true;
      (this.awaited ??= new Set()).add(part.toolCallId);
      return hasResult(content.slice(index), part.toolCallId) || !isUnanswered(part.toolCallId);
    });
  }

  /** Gives each call an id that no earlier call has, and adds the calls that the loop handles to `open`. */
  private withOwnIds(content: Content, open: OpenCall[]): Content {
    const parts = content.map((part) => {
      if (part.type !== 'tool-call') return part;
      const isOurs = isHandledByLoop(part);
      const call = isOurs ? withId(part, this.freeId(part.toolCallId)) : part;
      if (isOurs) open.push({ givenId: part.toolCallId, call });
      this.notSettled.addCall(call.toolCallId);
      return call;
    });
    return isSameList(parts, content) ? content : Object.freeze(parts);
  }

  private freeId(toolCallId: string): string {
    let id = toolCallId;
    for (let count = 2; this.has(id); count++) id = `${toolCallId}_${count}`;
    return id;
  }

  /** Adds the results of open calls and closes those calls. */
  private addResults(results: readonly ToolMessage[], open: OpenCall[]): void {
    for (const message of results) {
      const parts = message.content.flatMap((part) => {
        const index = open.findIndex(({ givenId }) => givenId === part.toolCallId);
        return index < 0 ? [] : open.splice(index, 1).map(({ call }) => withId(part, call.toolCallId));
      });
      const content = isSameList(parts, message.content) ? message.content : Object.freeze(parts);
      if (content.length > 0) this.output.push(withContent(message, content));
    }
  }
}

/** The content of each response, by the id of its message, and the ids of its calls. */
export class Answers {
  /** The number of writes. It also grows when a response replaces another one with the same id. */
  writes = 0;
  /** The content of a response, or `undefined` for a call. One map of both makes the search for an id one lookup. */
  private readonly contents = new Map<string, Content | undefined>();

  get(messageId: string): Content | undefined {
    return this.contents.get(messageId);
  }

  /** True when a response, or one of its calls, has this id. */
  has(id: string): boolean {
    return this.contents.has(id);
  }

  set(messageId: string, content: Content): void {
    this.contents.set(messageId, content);
    this.writes++;
  }

  addCall(toolCallId: string): void {
    if (!this.contents.has(toolCallId)) this.contents.set(toolCallId, undefined);
    this.writes++;
  }

  addAll({ contents }: Answers): void {
    for (const [id, content] of contents) {
      if (content) this.set(id, content);
      else this.addCall(id);
    }
  }
}

/** The settled responses of earlier executions, shared with later executions, and those of the current execution. */
export class SeenAnswers {
  private readonly earlier: Answers;
  private own = new Answers();

  constructor(earlier = new Answers()) {
    this.earlier = earlier;
  }

  get(messageId: string): Content | undefined {
    return this.own.get(messageId) ?? this.earlier.get(messageId);
  }

  has(id: string): boolean {
    return this.own.has(id) || this.earlier.has(id);
  }

  /** Adds a settled response. */
  add({ id, content }: AssistantMessage): void {
    this.own.set(id, content);
    for (let index = 0; index < content.length; index++) {
      const part = content[index] as AssistantPart;
      if (part.type === 'tool-call') this.own.addCall(part.toolCallId);
    }
  }

  addAll(answers: Answers): void {
    this.own.addAll(answers);
  }

  get writes(): number {
    return this.earlier.writes + this.own.writes;
  }

  /** Moves all responses to those of earlier executions, and returns them. */
  settle(): Answers {
    this.earlier.addAll(this.own);
    this.own = new Answers();
    return this.earlier;
  }
}

/** True when the turn ended without a result of this provider call. */
function isAbandoned(toolCallId: string, exchanges: readonly Exchange[], from: number): boolean {
  for (let index = from; index < exchanges.length; index++) {
    const { head } = exchanges[index] as Exchange;
    if (head.role === 'user') return true;
    if (head.role === 'assistant' && hasResult(head.content, toolCallId)) return false;
  }
  return false;
}

function missingResult({ call }: OpenCall): ToolResultPart {
  return resultPart(call, errorOutput('No result was recorded.'));
}

function withId<T extends ToolCallPart | ToolResultPart>(part: T, toolCallId: string): T {
  if (part.toolCallId === toolCallId) return part;
  const copy: ToolCallPart | ToolResultPart = { ...part, toolCallId };
  return Object.freeze(copy) as T; // a copy of the part, with another id
}

function withContent(message: AssistantMessage | ToolMessage, content: Message['content']): Message {
  if (content === message.content) return message;
  return reuseEqual(message, assembleMessage(message.role, { ...message, content }));
}

/** The messages by the objects that they were built from. */
const builtMessages = new WeakMap<object, Message>();

/** Returns the earlier message of the same origin if it is equal, so that the inputs of steps share it. */
export function reuseEqual(origin: object, message: Message): Message {
  const earlier = builtMessages.get(origin);
  if (earlier && isSameJson(earlier, message)) return earlier;
  builtMessages.set(origin, message);
  return message;
}

/** True when both lists have the same elements, by identity. */
export function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((element, index) => element === right[index]);
}

// Parts of responses

/**
 * True when a response and the results right after it need no repair, which is the usual case: texts, and calls that
 * the loop runs, with ids that no earlier message has, each with its result.
 */
export function isPlainExchange(
  content: Content,
  results: readonly ToolResultPart[] | undefined,
  known: { has(toolCallId: string): boolean },
): boolean {
  if (content.length === 0) return false;
  let calls = 0;
  for (let index = 0; index < content.length; index++) {
    const part = content[index] as AssistantPart;
    if (part.type === 'text' && part.text !== '') continue;
    if (part.type !== 'tool-call' || part.providerExecuted === true) return false;
    const { toolCallId } = part;
    if (results?.[calls++]?.toolCallId !== toolCallId || known.has(toolCallId)) return false;
  }
  if (results === undefined) return calls === 0;
  if (calls !== results.length || calls === 0) return false;
  return calls === 1 || new Set(results.map(({ toolCallId }) => toolCallId)).size === calls;
}

/** The parts that stay, without reasoning that led only to removed parts: up to the next reasoning, or the end. */
function withoutLooseReasoning(content: Content, stays: readonly boolean[]): Content {
  const kept: AssistantPart[] = [];
  let [leadsToSomething, isInReasoning] = [false, false];
  for (let index = content.length - 1; index >= 0; index--) {
    const part = content[index] as AssistantPart;
    const reasons = isReasoning(part);
    if (isInReasoning && !reasons) leadsToSomething = false;
    isInReasoning = reasons;
    if (reasons ? !leadsToSomething : !stays[index]) continue;
    leadsToSomething ||= saysSomething(part);
    kept.push(part);
  }
  return kept.length === content.length ? content : Object.freeze(kept.toReversed());
}

/** True when the part has content that a model receives. */
function saysSomething(part: AssistantPart): boolean {
  if (part.type === 'text') return part.text !== '' || part.providerOptions !== undefined;
  return part.type !== 'source';
}
