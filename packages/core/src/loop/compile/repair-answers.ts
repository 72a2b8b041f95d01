import { isSameJson } from '../../json.ts';
import type {
  AssistantMessage,
  AssistantPart,
  Message,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
} from '../../state/messages/messages.ts';
import { assembleMessage } from '../../state/messages/messages.ts';
import { errorOutput, resultPart } from '../../state/execution/tool-execution.ts';
import { hasResult, isPlainExchange, saysSomething, withoutLooseReasoning } from './answer-parts.ts';
import type { Content } from './answer-parts.ts';

/** A message that is not a result, and the results that follow it. */
export interface Exchange {
  /** Where it stands in the list. */
  readonly at: number;
  readonly head: Exclude<Message, ToolMessage>;
  readonly results: ToolMessage[];
}

/** A call that waits for its result, and the id that its result has been given. */
interface OpenCall {
  readonly givenId: string;
  readonly call: ToolCallPart;
}

/**
 * Repairs answers of a model and their results, one after the other. A list is settled up to an answer that waits for
 * nothing more: what follows can change nothing of it.
 */
export class AnswerRepair {
  /** What became of the messages. */
  readonly output: Message[] = [];
  /** Where in the list the first message stands that is not settled. */
  settledCount: number;
  /** How much of the output is settled. */
  settledOutput = 0;
  private readonly seen: SeenAnswers;
  /** What will be `seen` when it is settled. */
  private recent: Answers | undefined;
  /** Calls that the provider runs and has not answered so far in this turn. */
  private awaited: Set<string> | undefined;

  constructor(settledCount: number, seen: SeenAnswers) {
    this.settledCount = settledCount;
    this.seen = seen;
  }

  /** Call it once, with all there is: what comes later in the list decides what is kept. */
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

  /** Has an answer before, or one of its calls, this id? */
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
    // The id follows from the message that asks, and it has no time: compiling twice gives the same.
    const content = Object.freeze(open.map(missingResult));
    this.output.push(reuseEqual(answer.content, assembleMessage('tool', { id: answer.id, content })));
  }

  /** Which parts stay: not a call that the provider never answered, nor a result that answers no call of its own. */
  private keptParts(content: Content, isUnanswered: (toolCallId: string) => boolean): readonly boolean[] {
    return content.map((part, index) => {
      if (part.type === 'tool-result') return this.awaited?.delete(part.toolCallId) === true;
      if (part.type !== 'tool-call' || part.providerExecuted !== true) return true;
      (this.awaited ??= new Set()).add(part.toolCallId);
      return hasResult(content.slice(index), part.toolCallId) || !isUnanswered(part.toolCallId);
    });
  }

  /** Gives each call an id that no earlier call has, and adds those that are ours to answer to `open`. */
  private withOwnIds(content: Content, open: OpenCall[]): Content {
    const parts = content.map((part) => {
      if (part.type !== 'tool-call') return part;
      const isOurs = part.providerExecuted !== true;
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

  /** The results of open calls, which are then open no more. */
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

/** The content of each answer, by the id of the message, and the ids of their calls. */
export class Answers {
  /** How often something was noted. It grows also when an answer takes the place of another one of its id. */
  writes = 0;
  private readonly contents = new Map<string, Content>();
  private readonly calls = new Set<string>();

  get(messageId: string): Content | undefined {
    return this.contents.get(messageId);
  }

  /** Has an answer, or one of its calls, this id? */
  has(id: string): boolean {
    return this.contents.has(id) || this.calls.has(id);
  }

  set(messageId: string, content: Content): void {
    this.contents.set(messageId, content);
    this.writes++;
  }

  addCall(toolCallId: string): void {
    this.calls.add(toolCallId);
    this.writes++;
  }

  addAll({ contents, calls }: Answers): void {
    for (const [id, content] of contents) this.set(id, content);
    for (const id of calls) this.addCall(id);
  }
}

/** The settled answers of executions before, which are shared with the executions after them, and of the present one. */
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

  /** Notes an answer that is settled. */
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

  /** Takes all answers for those of executions before, and returns them. */
  settle(): Answers {
    this.earlier.addAll(this.own);
    this.own = new Answers();
    return this.earlier;
  }
}

/** Has the turn ended without a result of this call of the provider? */
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
  return Object.freeze(copy) as T; // the same kind of part: only its id was exchanged
}

function withContent(message: AssistantMessage | ToolMessage, content: Message['content']): Message {
  if (content === message.content) return message;
  return reuseEqual(message, assembleMessage(message.role, { ...message, content }));
}

/** By what they were made from. */
const builtMessages = new WeakMap<object, Message>();

/** What was made of the same before, if it is the same: then the inputs of steps share it. */
export function reuseEqual(origin: object, message: Message): Message {
  const earlier = builtMessages.get(origin);
  if (earlier && isSameJson(earlier, message)) return earlier;
  builtMessages.set(origin, message);
  return message;
}

/** The same elements, by identity? */
export function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((element, index) => element === right[index]);
}
