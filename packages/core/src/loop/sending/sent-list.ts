import {
  assembleMessage,
  type AssistantMessage,
  type Message,
  type Messages,
  type ToolMessage,
} from '../../state/messages/messages.ts';
import { hasResult } from '../../state/messages/message-parts.ts';
import { List } from '../../state/values/list.ts';
import { grownFingerprint, NO_FINGERPRINT, type Fingerprint, type RequestStart } from './fingerprint.ts';
import { withContent } from './repaired-message.ts';
import { withSingleCalls } from './single-calls.ts';
import { textPart } from './text-part.ts';
import type { RequestForm } from '../inference/request-form.ts';

/** A message as it is sent, and the message of the history that it stands for. */
export interface SentMessage {
  /** Absent when nothing of the message was sent. */
  readonly sent?: Message;
  /** Absent for a message that the repair added. */
  readonly said?: Message;
  /** True when it was joined to the message that was sent before it. */
  readonly isJoined?: true;
  /** True when the provider refused the message, or one of several that it may be. */
  readonly isRefused?: true;
}

/** The repaired beginning of a list. */
export interface Progress {
  readonly source: Messages;
  /** The number of messages of the source that it covers. */
  readonly count: number;
  /** The messages to send. While nothing was repaired, it is the source, of which the first `count` messages count. */
  readonly sent: Messages;
  readonly isSame: boolean;
  /** The fingerprint of some of the messages. */
  readonly fingerprint: Fingerprint;
}

/** The messages to send of a list, as they grow, in the order and the roles that a form demands. */
export class SentList {
  private readonly source: Messages;
  private readonly form: RequestForm;
  private readonly start: RequestStart;
  private readonly pairs: SentMessage[] | undefined;
  /** The number of messages of the source that were added. */
  private count: number;
  /** The number of first messages that were sent as they are, each in its place. */
  private same: number;
  /** The messages to send: `base` and then `added`; `undefined` while they are the source itself. */
  private base: Messages | undefined;
  private added: Message[] = [];
  private known: Fingerprint;

  constructor(
    { source, count, sent, isSame, fingerprint }: Progress,
    form: RequestForm,
    start: RequestStart,
    pairs?: SentMessage[],
  ) {
    this.source = source;
    this.count = count;
    this.same = isSame ? count : 0;
    this.base = isSame ? undefined : sent;
    this.known = fingerprint;
    this.form = form;
    this.start = start;
    this.pairs = pairs;
  }

  /** True while the messages to send are those of the source. */
  get isSame(): boolean {
    return this.base === undefined;
  }

  /** The number of first messages that were sent as they are, each in its place; 0 when that is unknown. */
  get sameCount(): number {
    return this.base === undefined ? this.count : this.same;
  }

  /** Adds what is sent of the next message of the source, with what the form demands before it. */
  add(said: Message, repaired: Message | undefined): void {
    const { last } = this;
    const sent = repaired && this.placed(repaired, last);
    if (sent !== said) this.diverge();
    if (sent === undefined) this.pairs?.push({ said });
    else if (last !== undefined && this.isJoined(last, sent)) this.join(last, sent, said);
    else if (sent.role === 'tool' && last?.role === 'assistant' && this.form.takesSingleCalls)
      this.appendApart(last, sent, said);
    else this.append(sent, said, last);
    this.count++;
  }

  /** The fingerprint of the request up to here. */
  fingerprint(): string {
    const { sent, count } = this;
    const known = grownFingerprint(this.known, this.start, sent, this.base ? sent.length : count);
    this.known = known;
    return known.value;
  }

  progress(): Progress {
    const { source, count, sent, base, known } = this;
    return { source, count, sent, isSame: base === undefined, fingerprint: known };
  }

  /** All messages to send. The last one stays in `added`, because the next one may replace it. */
  private get sent(): Messages {
    const { base, added } = this;
    if (base === undefined) return this.source;
    this.base = base.concat(added.slice(0, -1));
    this.added = added.slice(-1);
    return this.base.concat(this.added);
  }

  private get last(): Message | undefined {
    if (this.base === undefined) return this.count === 0 ? undefined : this.source.at(this.count - 1);
    return this.added.at(-1) ?? this.base.last;
  }

  private diverge(): void {
    if (this.base === undefined) this.same = this.count;
    this.base ??= List.from(this.source.slice(0, this.count));
  }

  /** A system message between others becomes a message of the user where the provider takes none. */
  private placed(message: Message, last: Message | undefined): Message {
    if (message.role !== 'system' || this.form.takesLaterSystemMessages) return message;
    if (last === undefined || last.role === 'system') return message;
    const text = message.content.map((part) => part.text).join('\n');
    return assembleMessage('user', { ...message, content: Object.freeze([textPart(`[System] ${text}`)]) });
  }

  private append(sent: Message, said: Message, last: Message | undefined): void {
    const before = this.neededBefore(sent, last);
    if (before !== undefined) {
      this.diverge();
      this.added.push(before);
      this.pairs?.push({ sent: before });
    }
    if (this.base !== undefined) this.added.push(sent);
    this.pairs?.push({ sent, said });
  }

  private neededBefore(message: Message, last: Message | undefined): Message | undefined {
    const { takesFirstAnswer, takesUserMessageAfterResults } = this.form;
    const isFirst = last === undefined || last.role === 'system';
    if (isFirst && !takesFirstAnswer && (message.role === 'assistant' || message.role === 'tool'))
      return userText(message.id, '(The beginning of the conversation is not shown.)');
    if (message.role === 'user' && last?.role === 'tool' && !takesUserMessageAfterResults)
      return assembleMessage('assistant', { id: message.id, content: Object.freeze([textPart('OK.')]) });
    return undefined;
  }

  /** True for a message of the user or of the assistant after one of the same role, where the provider takes one in a row. */
  private isJoined(last: Message, { role }: Message): boolean {
    return role === last.role && role !== 'system' && role !== 'tool' && !this.form.takesUserMessagesInARow;
  }

  /** Adds a message to the one of the same role before it. */
  private join(last: Message, next: Message, said: Message): void {
    this.replaceLast([withContent(last, joinedContent(last.content, next.content))]);
    this.pairs?.push({ sent: next, said, isJoined: true });
  }

  /** Adds results to an answer with several calls, which becomes several messages. */
  private appendApart(answer: AssistantMessage, results: ToolMessage, said: Message): void {
    const messages = withSingleCalls(answer, results, this.form);
    if (messages === undefined) return this.append(results, said, answer);
    this.replaceLast(messages);
    const before = this.pairs?.splice(this.pairs.findLastIndex(isSent), 1)[0];
    const [first, ...others] = messages;
    if (first) this.pairs?.push({ ...before, sent: first });
    this.pairs?.push(
      ...others.map((sent) => ({ sent, said: sent.role === 'tool' ? said : (before?.said ?? answer) })),
    );
  }

  private replaceLast(messages: readonly Message[]): void {
    this.diverge();
    if (this.added.length === 0) this.base = List.from(this.sent.slice(0, -1));
    else this.added.pop();
    const { length } = this.sent;
    this.added.push(...messages);
    if (this.known.count > length) this.known = NO_FINGERPRINT;
  }
}

function isSent({ sent }: SentMessage): boolean {
  return sent !== undefined;
}

type Content = Message['content'];

/** Joins the content of two messages. Texts that meet become one, because some providers take one text only. */
function joinedContent(first: Content, second: Content): Content {
  const [before, after] = [first.at(-1), second[0]];
  if (before?.type !== 'text' || after?.type !== 'text') return [...first, ...second];
  const text = Object.freeze({ ...before, ...after, text: `${before.text}\n\n${after.text}` });
  return [...first.slice(0, -1), text, ...second.slice(1)];
}

/** Returns the messages with an end that the provider takes. */
export function withSentEnd(messages: Messages, form: RequestForm): Messages {
  const end = neededEnd(messages.last, form);
  return end === undefined ? messages : messages.append(end);
}

/** The message that must follow the last one. */
export function neededEnd(
  last: Message | undefined,
  { takesFirstAnswer, takesLastAnswer }: RequestForm,
): Message | undefined {
  const isEmpty = last === undefined || last.role === 'system';
  const isRefused = isEmpty ? !takesFirstAnswer : last.role === 'assistant' && !takesLastAnswer;
  if (!isRefused || (last?.role === 'assistant' && isPaused(last))) return undefined;
  return userText('end', isEmpty ? 'Begin.' : 'Continue.');
}

/** True for a response in which the provider paused at one of its own calls: it continues after its own message. */
function isPaused({ content }: Message): boolean {
  return content.some(
    (part) =>
      part.type === 'tool-call' && part.providerExecuted === true && !hasResult(content, part.toolCallId),
  );
}

function userText(id: string, text: string): Message {
  const content = Object.freeze([textPart(text)]);
  return assembleMessage('user', { id: id as Message['id'], content }); // the id is not sent
}
