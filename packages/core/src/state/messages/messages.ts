import { checkedCopy, checkedValue, mustBe, optionsCheck } from '../../arguments.ts';
import { systemClock, toInstant, type Clock, type Instant } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import {
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
  type Read,
  type Readers,
  type Shape,
  type Shaped,
  type Shapes,
  type Variant,
} from '../../document.ts';
import { toJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { Init } from '../values/copy.ts';
import { MessageId } from '../values/ids.ts';
import type { List } from '../values/list.ts';
import { tryFreezeAssistantContent, tryFreezeMessage } from './plain-message.ts';

/**
 * Opaque JSON that a provider attached to a message or part, by provider name: signatures, cache marks, item ids. It is
 * stored unchanged, and the driver sends it back on the same part.
 */
export type ProviderOptions = JsonObject;

/** The members that every part can have. */
export interface PartBase {
  readonly providerOptions?: ProviderOptions;
}

/** Text. */
export interface TextPart extends PartBase {
  readonly type: 'text';
  readonly text: string;
}

/** Reasoning that a model wrote before its response. */
export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning';
  readonly text: string;
}

/** The content of a file as JSON: base64 (`data`), a URL, a provider's own file ids, or plain text. */
export type FileData =
  | { readonly type: 'data'; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'reference'; readonly reference: Readonly<Record<string, string>> }
  | { readonly type: 'text'; readonly text: string };

/** A file or an image, distinguished by its media type (`image/png`, `application/pdf`). */
export interface FilePart extends PartBase {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: FileData;
  readonly filename?: string;
}

/** A file that a model created while it reasoned, such as a sketch. */
export interface ReasoningFilePart extends PartBase {
  readonly type: 'reasoning-file';
  readonly mediaType: string;
  readonly data: FileData;
}

/** A tool call: the model's request to run a tool. */
export interface ToolCallPart extends PartBase {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  /**
   * The parsed arguments. Arguments that are not JSON, or hold a whole number that would be rounded, stay as raw text, and
   * `invalid` states the reason.
   */
  readonly input: JsonValue;
  /** The provider runs the tool itself and puts the result in the same message. The loop does not run the call. */
  readonly providerExecuted?: boolean;
  /** The reason why the arguments are not usable. */
  readonly invalid?: string;
}

/** A part of a tool result with more than text. Only the provider that its options name understands a `custom` part. */
export type ToolContentPart = TextPart | FilePart | (PartBase & { readonly type: 'custom' });

/** The model output: what a model reads as the result of a call. */
export type ToolOutput = PartBase &
  (
    | { readonly type: 'text'; readonly value: string }
    | { readonly type: 'json'; readonly value: JsonValue }
    | { readonly type: 'error-text'; readonly value: string }
    | { readonly type: 'error-json'; readonly value: JsonValue }
    | { readonly type: 'execution-denied'; readonly reason?: string }
    | { readonly type: 'content'; readonly value: readonly ToolContentPart[] }
  );

/** The tool result of one call. */
export interface ToolResultPart extends PartBase {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: ToolOutput;
}

/** A source that a model cited. It is stored for readers and not sent back to models. */
export interface SourcePart extends PartBase {
  readonly type: 'source';
  readonly source: JsonObject;
}

/** A part that only one provider understands, stored unchanged and sent back to it. */
export interface CustomPart extends PartBase {
  readonly type: 'custom';
  readonly kind: string;
}

/** A part of a user message. */
export type UserPart = TextPart | FilePart;
/** A part of an assistant message, in the order of the model. */
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

/** The members that every message has. */
export interface MessageBase {
  readonly id: MessageId;
  /** When the message was written; unknown for a message from elsewhere. */
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

/** One message: a deeply frozen JSON value. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** The role of a message. */
export type MessageRole = Message['role'];

/** An immutable list of messages. Appending shares structure. */
export type Messages = List<Message>;

/** The options of a new message. */
export interface MessageOptions {
  /** Default: a UUID. */
  readonly id?: string;
  /** Default: now. */
  readonly createdAt?: Instant;
  readonly providerOptions?: ProviderOptions;
  readonly metadata?: JsonObject;
  readonly clock?: Clock;
}

/** Checks the names of the options. The values are checked where they are used. */
export const checkMessageOptions = optionsCheck<MessageOptions>('message', {
  id: mustBe.anything,
  createdAt: mustBe.anything,
  providerOptions: mustBe.anything,
  metadata: mustBe.anything,
  clock: mustBe.clock,
});

/** Creates a user message from text or parts. */
export function userMessage(content: string | readonly UserPart[], options?: MessageOptions): UserMessage {
  return createMessage('user', content, options) as UserMessage;
}

/** Creates an assistant message from text or parts. */
export function assistantMessage(
  content: string | readonly AssistantPart[],
  options?: MessageOptions,
): AssistantMessage {
  return createMessage('assistant', content, options) as AssistantMessage;
}

/** Creates a message with results of tool calls. */
export function toolMessage(content: readonly ToolResultPart[], options?: MessageOptions): ToolMessage {
  return createMessage('tool', content, options) as ToolMessage;
}

/** Creates a system message: an instruction inside the conversation. The standing instruction is the system prompt. */
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

/** Metadata names that only a step sets in a message. */
export const TAG_NAMES: ReadonlySet<string> = new Set(['step_id', 'execution_id', 'agent_id', 'is_trace']);

function userMetadata(metadata: JsonObject): JsonObject {
  const json = toJsonObject(metadata);
  for (const name in json) {
    if (!TAG_NAMES.has(name)) continue;
    const message = `The metadata "${name}" of a message is reserved for steps. Use another name.`;
    throw new HoldfastError('CONTEXT_INVALID', message);
  }
  return json;
}

/**
 * Returns frozen copies of parts that are valid for the role.
 * @throws HoldfastError `CONTEXT_INVALID` with the path of the first invalid part.
 */
export function checkedParts<T extends MessagePart>(role: MessageRole, parts: readonly T[]): readonly T[] {
  return checkedCopy(`content of a ${role} message`, parts, contentReaders[role]) as readonly T[];
}

type MessageFields = Init<MessageBase & { readonly content: readonly MessagePart[] }, 'id' | 'content'>;

/**
 * Returns the message itself when it is deeply frozen, or else a frozen copy.
 * @throws HoldfastError `CONTEXT_INVALID` for an invalid message.
 */
export function checkedMessage(message: Message): Message {
  return checkedValue('message', message, readMessage);
}

/**
 * Returns the call itself when it is deeply frozen, or else a frozen copy.
 * @throws HoldfastError `CONTEXT_INVALID` for an invalid call.
 */
export function checkedToolCall(call: ToolCallPart): ToolCallPart {
  return checkedValue('tool call', call, readToolCall);
}

/** Creates a message from valid parts. Members have a fixed order, and empty members are omitted. */
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

/** Returns the shape of a part: its own members, and the provider options that every part can have. */
function partShape<const R extends Readers>(readers: R): Shape<Shaped<PartReaders & R>> {
  return shapeOf({ type: readString, ...readers, 'providerOptions?': readJsonObject });
}

const TEXT = partShape({ text: readString });
const FILE = partShape({ mediaType: readString, data: readFileData, 'filename?': readString });

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

export const readToolCall: Read<ToolCallPart> = readVariant('type', {
  'tool-call': PARTS['tool-call'],
});

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

export const readMessage: Read<Message> = (reader, value) =>
  tryFreezeMessage(value) ? (value as Message) : readAnyMessage(reader, value);

const readAnyMessage: Read<Message> = readVariant('role', {
  system: messageShape(contentReaders.system),
  user: messageShape(contentReaders.user),
  assistant: messageShape(contentReaders.assistant),
  tool: messageShape(contentReaders.tool),
});
