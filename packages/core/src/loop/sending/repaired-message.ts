import { isReasoning } from '../../state/messages/message-parts.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { some } from '../../state/values/frozen-array.ts';
import {
  assembleMessage,
  type AssistantMessage,
  type AssistantPart,
  type CustomPart,
  type FilePart,
  type Message,
  type MessagePart,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
  type UserMessage,
  type UserPart,
} from '../../state/messages/messages.ts';
import { callMarksOf } from '../../state/messages/call-marks.ts';
import { addNeedsOfCalls } from './needs-of-calls.ts';
import { LegalIds, LegalNames } from './legal-names.ts';
import type { RequestForm } from '../inference/request-form.ts';
import { hasOption, isWellFormed, sentOutput, wellFormed, withoutOptions } from './repaired-parts.ts';
import { fileTypes, sentFile, type FileTypes } from './sent-file.ts';
import { isBlank, textPart } from './text-part.ts';

const NO_OPTIONS: readonly string[] = [];
const NO_INPUT: JsonObject = Object.freeze({});

/** Repairs the messages of one conversation, in order, for one form. */
export class MessageRepair {
  private readonly form: RequestForm;
  private readonly names: LegalNames;
  private readonly ids: LegalIds;
  private readonly ownCallIds: RegExp | undefined;
  private readonly types: FileTypes;
  /** The ids of calls that a provider ran: true for a call that is sent, with its id and its result as they are. */
  private readonly providerCalls = new Map<string, boolean>();

  constructor(form: RequestForm) {
    this.form = form;
    this.names = LegalNames.for(form.toolName);
    this.ids = new LegalIds(form.callId);
    this.ownCallIds = form.ownCallIds === undefined ? undefined : new RegExp(form.ownCallIds);
    this.types = fileTypes(form);
  }

  /** Returns the message to send; the message itself when it is legal, and `undefined` when nothing of it can be sent. */
  repaired(message: Message, keepsReasoning: boolean): Message | undefined {
    if (this.isPlain(message)) return message;
    const clean = wellFormedMessage(message);
    switch (clean.role) {
      case 'system':
        return clean.content.every(({ text }) => isBlank(text)) ? undefined : clean;
      case 'user':
        return this.userMessage(clean);
      case 'assistant':
        return this.answer(clean, keepsReasoning && !losesSignature(message as AssistantMessage, clean));
      case 'tool':
        return this.results(clean);
      default:
        return clean;
    }
  }

  /** True for a message that is legal as it is, of texts, calls and results alone, as nearly every message is. */
  isPlain({ role, content, providerOptions }: Message): boolean {
    if (providerOptions !== undefined || content.length === 0) return false;
    const { reasoningBeforeCalls, textBeforeCalls, callOptions } = this.form;
    const needs = reasoningBeforeCalls ?? textBeforeCalls ?? callOptions;
    if (role === 'assistant' && needs !== undefined) return false;
    for (let index = 0; index < content.length; index++)
      if (!this.isPlainPart(content[index] as MessagePart)) return false;
    return true;
  }

  private isPlainPart(part: MessagePart): boolean {
    if (part.providerOptions !== undefined) return false;
    if (part.type === 'text') return part.text.isWellFormed() && !isBlank(part.text);
    if (part.type !== 'tool-call' && part.type !== 'tool-result') return false;
    if (!this.ids.isPlain(part.toolCallId) || !this.names.isLegal(part.toolName)) return false;
    if (part.type === 'tool-call')
      return part.providerExecuted !== true && isJsonObject(part.input) && isWellFormed(part.input);
    const { output } = part;
    if (output.providerOptions !== undefined || this.providerCalls.size > 0) return false;
    if (output.type === 'json') return isWellFormed(output.value);
    return output.type === 'text' && output.value.isWellFormed() && !isBlank(output.value);
  }

  private userMessage(message: UserMessage): Message {
    const { takesBlankTexts, filesNeedText, omitsFileNames } = this.form;
    const sent = message.content.map((part) => (part.type === 'file' ? this.userFile(part) : part));
    const kept = takesBlankTexts ? sent : sent.filter(hasText);
    const names = omitsFileNames ? namesOf(kept) : [];
    const needsText = filesNeedText && !kept.some(({ type }) => type === 'text');
    if (names.length > 0) kept.unshift(textPart(`[Files: ${names.join(', ')}]`));
    else if (needsText) kept.unshift(textPart('[A file]'));
    const content = omitsFileNames ? kept.map(withoutName) : kept;
    return withContent(message, content.length > 0 ? content : [textPart('(empty message)')]);
  }

  private userFile(part: FilePart): FilePart | TextPart {
    return sentFile(part, part.data.type === 'url' ? this.types.userUrl : this.types.user);
  }

  private answer(message: AssistantMessage, keepsReasoning: boolean): Message | undefined {
    const { boundOptions = NO_OPTIONS } = this.form;
    const bound = keepsReasoning ? NO_OPTIONS : boundOptions;
    const parts: AssistantPart[] = [];
    const hasReasoning = some(message.content, isReasoning);
    const losesCalls = hasReasoning && !keepsReasoning && this.form.ownCallsNeedReasoning === true;
    // Its reasoning is kept because the called model made the response, and so it knows the calls too.
    const keepsCalls = hasReasoning && keepsReasoning;
    for (const part of message.content) {
      if (isReasoning(part) && !keepsReasoning) continue;
      if (losesCalls && isProviderCall(part)) {
        this.providerCalls.set(part.toolCallId, false);
        continue;
      }
      const sent = this.part(bound.length > 0 ? withoutOptions(part, bound) : part, keepsCalls);
      if (sent !== undefined) parts.push(sent);
    }
    if (!some(parts, saysSomething)) return undefined;
    addNeedsOfCalls(parts, this.form);
    return withContent(bound.length > 0 ? withoutOptions(message, bound) : message, parts);
  }

  private part(part: AssistantPart, keepsCalls: boolean): AssistantPart | undefined {
    switch (part.type) {
      case 'text':
        return this.isSentText(part) ? part : undefined;
      case 'file':
        return sentFile(part, this.types.answer);
      case 'tool-call':
        return this.call(part, keepsCalls);
      case 'tool-result':
        return this.providerCalls.get(part.toolCallId) === true ? part : undefined;
      case 'custom':
        return this.isForProvider(part) ? part : undefined;
      default:
        return part;
    }
  }

  /** An empty text can carry a signature, which the provider then demands. */
  private isSentText(part: Extract<AssistantPart, { readonly type: 'text' }>): boolean {
    return this.form.takesBlankTexts || !isBlank(part.text) || hasOption(part, this.form.boundOptions ?? []);
  }

  private call(part: ToolCallPart, keepsCalls: boolean): ToolCallPart | undefined {
    if (part.providerExecuted === true) {
      const isOwn = keepsCalls || this.isOwnCall(callMarksOf(part).approvalId ?? part.toolCallId);
      this.providerCalls.set(part.toolCallId, isOwn);
      return isOwn ? part : undefined;
    }
    this.providerCalls.delete(part.toolCallId);
    const toolCallId = this.ids.of(part.toolCallId);
    const toolName = this.names.of(part.toolName);
    const input = isJsonObject(part.input) ? part.input : NO_INPUT;
    const isSame = toolCallId === part.toolCallId && toolName === part.toolName && input === part.input;
    return isSame ? part : Object.freeze({ ...part, toolCallId, toolName, input });
  }

  private isOwnCall(toolCallId: string): boolean {
    return this.ownCallIds?.test(toolCallId) ?? false;
  }

  private isForProvider({ kind, providerOptions }: CustomPart): boolean {
    const { optionNames } = this.form;
    if (optionNames === undefined) return true;
    return optionNames.some((name) => kind.startsWith(`${name}.`) || providerOptions?.[name] !== undefined);
  }

  private results(message: ToolMessage): Message | undefined {
    const { takesBlankTexts } = this.form;
    const parts: ToolResultPart[] = [];
    for (const part of message.content) {
      const isSent = this.providerCalls.get(part.toolCallId);
      if (isSent === false) continue;
      const toolCallId = isSent ? part.toolCallId : this.ids.of(part.toolCallId);
      const toolName = this.names.of(part.toolName);
      const output = sentOutput(part.output, takesBlankTexts, this.types.result);
      const isSame = toolCallId === part.toolCallId && toolName === part.toolName && output === part.output;
      parts.push(isSame ? part : Object.freeze({ ...part, toolCallId, toolName, output }));
    }
    return parts.length === 0 ? undefined : withContent(message, parts);
  }
}

/** True when reasoning was changed, so that its signature does not fit. */
function losesSignature({ content }: AssistantMessage, changed: AssistantMessage): boolean {
  return content.some((part, at) => isReasoning(part) && !isSameText(part, changed.content[at]));
}

function isSameText(part: AssistantPart, other: AssistantPart | undefined): boolean {
  return part.type !== 'reasoning' || (other?.type === 'reasoning' && other.text === part.text);
}

function namesOf(parts: readonly UserPart[]): readonly string[] {
  return parts.flatMap((part) =>
    part.type === 'file' && part.filename !== undefined ? [part.filename] : [],
  );
}

function withoutName(part: UserPart): UserPart {
  if (part.type !== 'file' || part.filename === undefined) return part;
  const { filename: _, ...others } = part;
  return Object.freeze(others);
}

function hasText(part: UserMessage['content'][number]): boolean {
  return part.type !== 'text' || !isBlank(part.text);
}

function isProviderCall(part: AssistantPart): part is ToolCallPart {
  return part.type === 'tool-call' && part.providerExecuted === true;
}

/** True when the part is more than reasoning, sources and facts of a response, which no provider takes alone. */
function saysSomething(part: AssistantPart): boolean {
  if (part.type === 'custom') return !part.kind.endsWith('.message_start');
  return !isReasoning(part) && part.type !== 'source';
}

/** The tags of a message are not sent, so they are not read. */
function wellFormedMessage(message: Message): Message {
  const { content, providerOptions } = message;
  const [cleanContent, cleanOptions] = [wellFormed(content), wellFormed(providerOptions)];
  if (cleanContent === content && cleanOptions === providerOptions) return message;
  return assembleMessage(message.role, { ...message, content: cleanContent, providerOptions: cleanOptions });
}

/** Returns the message with other content; the message itself when the content is the same. */
export function withContent<T extends Message>(message: T, content: readonly T['content'][number][]): T {
  const { length } = message.content;
  const isSame = length === content.length && content.every((part, at) => part === message.content[at]);
  if (isSame) return message;
  return assembleMessage(message.role, { ...message, content: Object.freeze(content) }) as T;
}
