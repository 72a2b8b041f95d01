import { mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock, Instant } from '../../clock.ts';
import { systemClock, toInstant } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import type { Read, Readers, Shape, Shaped, Shapes, Variant } from '../../document.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import {
  checkedCopy,
  checkedValue,
  readBoolean,
  readNonEmpty,
  readFrozenList,
  readFrozenRecord,
  readInstant,
  readJson,
  readJsonObject,
  readString,
  readVariant,
  shapeOf,
} from '../../document.ts';
import { toJsonObject } from '../../json.ts';
import { MessageId } from '../values/ids.ts';
import type { List } from '../values/list.ts';
import { tryFreezeAssistantContent, tryFreezeMessage } from './plain-message.ts';

/**
 * What a provider attached to a message or part, by provider name: signatures, cache marks, item ids. Opaque;
 * kept verbatim and sent back on the same part.
 */
export type ProviderOptions = JsonObject;

/** What every part may carry. */
export interface PartBase {
  readonly providerOptions?: ProviderOptions;
}

/** Written text. */
export interface TextPart extends PartBase {
  readonly type: 'text';
  readonly text: string;
}

/** What a model thought before it answered. */
export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning';
  readonly text: string;
}

/** The content of a file, always JSON: base64 (`data`), a URL, a provider's own file ids, or plain text. */
export type FileData =
  | { readonly type: 'data'; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'reference'; readonly reference: Readonly<Record<string, string>> }
  | { readonly type: 'text'; readonly text: string };

/** A file or an image, told apart by its media type (`image/png`, `application/pdf`). */
export interface FilePart extends PartBase {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: FileData;
  readonly filename?: string;
}

/** A file that a model made while it thought, such as a sketch. */
export interface ReasoningFilePart extends PartBase {
  readonly type: 'reasoning-file';
  readonly mediaType: string;
  readonly data: FileData;
}

/** A request of the model to run a tool. */
export interface ToolCallPart extends PartBase {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments, parsed. When they could not be parsed: the raw text, and `invalid` says why. */
  readonly input: JsonValue;
  /** The provider runs it itself and puts the result in the same message; the loop leaves it alone. */
  readonly providerExecuted?: boolean;
  /** Why the arguments are not usable, when they are not. */
  readonly invalid?: string;
}

/** A part of a result that is more than text. `custom`: what only the provider named in its options understands. */
export type ToolContentPart = TextPart | FilePart | (PartBase & { readonly type: 'custom' });

/** What a model reads as the result of a call. */
export type ToolOutput = PartBase &
  (
    | { readonly type: 'text'; readonly value: string }
    | { readonly type: 'json'; readonly value: JsonValue }
    | { readonly type: 'error-text'; readonly value: string }
    | { readonly type: 'error-json'; readonly value: JsonValue }
    | { readonly type: 'execution-denied'; readonly reason?: string }
    | { readonly type: 'content'; readonly value: readonly ToolContentPart[] }
  );

/** The result of one call. */
export interface ToolResultPart extends PartBase {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: ToolOutput;
}

/** A source that a model cited. Kept for readers; not sent back to models. */
export interface SourcePart extends PartBase {
  readonly type: 'source';
  readonly source: JsonObject;
}

/** Something only one provider understands, kept verbatim and sent back to it. */
export interface CustomPart extends PartBase {
  readonly type: 'custom';
  readonly kind: string;
}

/** What a person may send. */
export type UserPart = TextPart | FilePart;
/** What a model may answer with, in its order. */
export type AssistantPart =
  | TextPart
  | ReasoningPart
  | ReasoningFilePart
  | FilePart
  | ToolCallPart
  | ToolResultPart
  | SourcePart
  | CustomPart;
/** Any part of any message. */
export type MessagePart = UserPart | AssistantPart;

/** What every message carries. */
export interface MessageBase {
  readonly id: MessageId;
  /** When it was written; unknown for one that came from elsewhere. */
  readonly createdAt?: Instant;
  readonly providerOptions?: ProviderOptions;
  readonly metadata?: JsonObject;
}

export interface SystemMessage extends MessageBase {
  readonly role: 'system';
  readonly content: readonly TextPart[];
}
export interface UserMessage extends MessageBase {
  readonly role: 'user';
  readonly content: readonly UserPart[];
}
export interface AssistantMessage extends MessageBase {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
}
export interface ToolMessage extends MessageBase {
  readonly role: 'tool';
  readonly content: readonly ToolResultPart[];
}

/** One message. A deeply frozen JSON value: `JSON.stringify` shows all of it. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** Who speaks in a message. */
export type MessageRole = Message['role'];

/** An immutable run of messages; appending shares structure. */
export type Messages = List<Message>;

/** What may be said about a new message. */
export interface MessageOptions {
  /** Default: a UUID. */
  readonly id?: string;
  /** Default: now. */
  readonly createdAt?: Instant;
  readonly providerOptions?: ProviderOptions;
  readonly metadata?: JsonObject;
  readonly clock?: Clock;
}

/** The values are checked where they are used. */
export const checkMessageOptions = optionsCheck<MessageOptions>('message', {
  id: mustBe.anything,
  createdAt: mustBe.anything,
  providerOptions: mustBe.anything,
  metadata: mustBe.anything,
  clock: mustBe.clock,
});

/** A message of a person, from text or parts. */
export function userMessage(content: string | readonly UserPart[], options?: MessageOptions): UserMessage {
  return createMessage('user', content, options) as UserMessage;
}

/** A message of a model, from text or parts. */
export function assistantMessage(
  content: string | readonly AssistantPart[],
  options?: MessageOptions,
): AssistantMessage {
  return createMessage('assistant', content, options) as AssistantMessage;
}

/** Results of tool calls. */
export function toolMessage(content: readonly ToolResultPart[], options?: MessageOptions): ToolMessage {
  return createMessage('tool', content, options) as ToolMessage;
}

/** An instruction inside a conversation. The standing one is the context's system prompt. */
export function systemMessage(content: string, options?: MessageOptions): SystemMessage {
  return createMessage('system', content, options) as SystemMessage;
}

function createMessage(
  role: MessageRole,
  content: string | readonly MessagePart[],
  options: MessageOptions = {},
): Message {
  const { clock = systemClock, metadata, providerOptions } = checkMessageOptions(options);
  const { id = clock.newId(), createdAt = clock.now() } = options;
  return assembleMessage(role, {
    id: MessageId.parse(id),
    createdAt: toInstant(createdAt),
    content: checkedParts(role, typeof content === 'string' ? [{ type: 'text', text: content }] : content),
    providerOptions: providerOptions === undefined ? undefined : toJsonObject(providerOptions),
    metadata: metadata === undefined ? undefined : userMetadata(metadata),
  });
}

/** Names in a message's metadata that only a step sets. */
export const TAG_NAMES: ReadonlySet<string> = new Set(['step_id', 'execution_id', 'agent_id', 'is_trace']);

function userMetadata(metadata: JsonObject): JsonObject {
  const json = toJsonObject(metadata);
  for (const name in json) {
    if (!TAG_NAMES.has(name)) continue;
    throw new HoldfastError('CONTEXT_INVALID', `The metadata "${name}" of a message is set by steps only.`);
  }
  return json;
}

/**
 * Frozen copies of parts that fit the role.
 * @throws HoldfastError `CONTEXT_INVALID` naming the first part that does not.
 */
export function checkedParts<T extends MessagePart>(role: MessageRole, parts: readonly T[]): readonly T[] {
  return checkedCopy(`content of a ${role} message`, parts, contentReaders[role]) as readonly T[];
}

interface MessageFields {
  readonly id: MessageId;
  readonly createdAt?: Instant | undefined;
  readonly content: readonly MessagePart[];
  readonly providerOptions?: JsonObject | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** The message itself when it is deeply frozen, else a frozen copy. @throws HoldfastError `CONTEXT_INVALID`. */
export function checkedMessage(message: Message): Message {
  return checkedValue('message', message, readMessage);
}

/** The call itself when it is deeply frozen, else a frozen copy. @throws HoldfastError `CONTEXT_INVALID`. */
export function checkedToolCall(call: ToolCallPart): ToolCallPart {
  return checkedValue('tool call', call, readToolCall);
}

/** A message of parts that were checked already: members in one order, empty ones left out. */
export function assembleMessage(role: MessageRole, fields: MessageFields): Message {
  const { id, content, createdAt, providerOptions, metadata } = fields;
  const message: Record<string, unknown> =
    createdAt === undefined ? { id, role, content } : { id, role, content, createdAt };
  if (hasMembers(providerOptions)) message['providerOptions'] = providerOptions;
  if (hasMembers(metadata)) message['metadata'] = metadata;
  return Object.freeze(message) as unknown as Message;
}

function hasMembers(value: JsonObject | undefined): boolean {
  if (value !== undefined) for (const _ in value) return true;
  return false;
}

const readFileData: Read<FileData> = readVariant('type', {
  data: shapeOf({ type: readString, data: readString }),
  url: shapeOf({ type: readString, url: readString }),
  reference: shapeOf({ type: readString, reference: readFrozenRecord(readString) }),
  text: shapeOf({ type: readString, text: readString }),
});

interface PartReaders {
  readonly type: Read<string>;
  readonly 'providerOptions?': Read<JsonObject>;
}

/** The shape of a part: its own members and the provider options that every part may have. */
function partShape<const R extends Readers>(readers: R): Shape<Shaped<PartReaders & R>> {
  return shapeOf({ type: readString, ...readers, 'providerOptions?': readJsonObject });
}

const TEXT = partShape({ text: readString });
const FILE = partShape({ mediaType: readString, data: readFileData, 'filename?': readString });

/** Reads what a model is shown of a result. */
export const readToolOutput: Read<ToolOutput> = readVariant('type', {
  text: partShape({ value: readString }),
  json: partShape({ value: readJson }),
  'error-text': partShape({ value: readString }),
  'error-json': partShape({ value: readJson }),
  'execution-denied': partShape({ 'reason?': readString }),
  content: partShape({ value: readContent({ text: TEXT, file: FILE, custom: partShape({}) }) }),
});

const PARTS = {
  text: TEXT,
  reasoning: partShape({ text: readString }),
  'reasoning-file': partShape({ mediaType: readString, data: readFileData }),
  file: FILE,
  'tool-call': partShape({
    toolCallId: readString,
    toolName: readString,
    input: readJson,
    'providerExecuted?': readBoolean,
    'invalid?': readString,
  }),
  'tool-result': partShape({ toolCallId: readString, toolName: readString, output: readToolOutput }),
  source: partShape({ source: readJsonObject }),
  custom: partShape({ kind: readString }),
} as const;

function readContent<S extends Shapes>(shapes: S): Read<readonly Variant<'type', S>[]> {
  return readFrozenList(readVariant('type', shapes));
}

const contentReaders = {
  system: readContent({ text: PARTS.text }),
  user: readContent({ text: PARTS.text, file: PARTS.file }),
  assistant: readContent(PARTS),
  tool: readContent({ 'tool-result': PARTS['tool-result'] }),
};

/** Reads one tool call. */
export const readToolCall: Read<ToolCallPart> = readVariant('type', {
  'tool-call': PARTS['tool-call'],
});

/** Reads the content of an assistant message. */
export const readAssistantContent: Read<readonly AssistantPart[]> = (reader, value) =>
  tryFreezeAssistantContent(value)
    ? (value as readonly AssistantPart[])
    : contentReaders.assistant(reader, value);

function messageShape<T>(content: Read<T>): Shape<MessageBase & { readonly content: T }> {
  return shapeOf({
    id: MessageId.read,
    role: readString,
    content,
    'createdAt?': readInstant,
    'providerOptions?': readNonEmpty(readJsonObject),
    'metadata?': readNonEmpty(readJsonObject),
  });
}

/** Reads one message. */
export const readMessage: Read<Message> = (reader, value) =>
  tryFreezeMessage(value) ? (value as Message) : readAnyMessage(reader, value);

const readAnyMessage: Read<Message> = readVariant('role', {
  system: messageShape(contentReaders.system),
  user: messageShape(contentReaders.user),
  assistant: messageShape(contentReaders.assistant),
  tool: messageShape(contentReaders.tool),
});
