import type { FilePart, JsonObject, UserPart } from '@holdfast/core';
import type { UIMessage } from 'ai';
import { isRecord } from '../../json/is-same-value.ts';
import { dataPartsMetadata, DATA_PARTS, isDataPart, type DataPart } from '../../messages/data-parts.ts';
import { ChatRequestError } from './chat-error.ts';
import { requireSmall } from './size.ts';

/** A message of the user. */
export interface IncomingMessage {
  readonly id: string;
  readonly content: readonly UserPart[];
  readonly metadata: JsonObject | undefined;
}

/** The decision of a person on a call, by the id of the approval. */
export interface IncomingDecision {
  readonly approvalId: string;
  readonly isApproved: boolean;
  readonly reason: string | undefined;
  /** The arguments that the page showed; `undefined` when it does not send them. */
  readonly input: unknown;
}

/** The answer to a call of a tool that the page runs. */
export interface IncomingAnswer {
  readonly toolCallId: string;
  /** Returns the result. @throws ChatRequestError `CHAT_BODY_TOO_LARGE`. */
  readonly read: () => { readonly value: unknown } | { readonly error: string };
}

/** The request of a page. */
export type ChatCommand =
  | { readonly type: 'send'; readonly message: IncomingMessage; readonly hasStream: boolean }
  | { readonly type: 'edit'; readonly message: IncomingMessage; readonly replaces: string | undefined }
  | {
      readonly type: 'answer';
      readonly decisions: readonly IncomingDecision[];
      readonly answers: readonly IncomingAnswer[];
      /** The message that the page continues: as the page shows it, or its answered parts. */
      readonly continued: UIMessage;
      /** The digest of that message as the server sent it; `undefined` when the page does not have it so. */
      readonly known: string | undefined;
    }
  | {
      readonly type: 'regenerate';
      readonly messageId: string | undefined;
      readonly replaces: string | undefined;
      /** The last message of the page, if it is one of the user. */
      readonly last: ShownMessage | undefined;
    };

/** A message of the user as the page shows it. */
export interface ShownMessage {
  readonly id: string;
  /** The parts that a message of the user keeps. */
  readonly parts: readonly unknown[];
  /** Returns the message to store. @throws ChatRequestError `CHAT_REQUEST_INVALID`. */
  readonly read: () => IncomingMessage;
}

/** Bounds for the content that a page sends. */
export interface ContentBounds {
  /** Returns true for a URL of a file that the user may send. */
  readonly acceptsFileUrl: (url: URL) => boolean;
  /** The number of JSON values. */
  readonly values: number;
}

type Members = Readonly<Record<string, unknown>>;

/** The metadata of a message that only the server may set. */
const TAGS = new Set(['execution_id', 'step_id', 'agent_id', 'is_trace', DATA_PARTS]);
const LONGEST_ID = 200;

/**
 * Reads the body that a chat transport posts: its last message alone, or all messages as the transports of the AI SDK do.
 * @throws ChatRequestError `CHAT_REQUEST_INVALID`; `CHAT_BODY_TOO_LARGE` for more values than the bounds allow.
 */
export function readCommand(body: Members, bounds: ContentBounds): ChatCommand {
  const { trigger, messageId, hasStream } = body;
  const replaces = optionalId(body, 'replaces');
  if (trigger === 'regenerate-message')
    return {
      type: 'regenerate',
      messageId: optionalId(body, 'messageId'),
      replaces,
      last: shownMessage(lastOf(body['messages']), bounds),
    };
  if (trigger !== 'submit-message')
    throw invalid('"trigger" must be "submit-message" or "regenerate-message".');
  const last = body['message'] ?? lastOf(body['messages'], messageId);
  if (!isRecord(last)) throw invalid('The body needs a "message".');
  if (last['role'] === 'assistant') return readAnswers(last, optionalId(body, 'known'), bounds);
  const message = readMessage(last, bounds);
  const isEdit = messageId === message.id;
  return isEdit
    ? { type: 'edit', message, replaces }
    : { type: 'send', message, hasStream: hasStream === true };
}

/** Returns the message that the page continues, or the last one. */
function lastOf(messages: unknown, messageId?: unknown): unknown {
  if (!Array.isArray(messages)) return undefined;
  const continued = messages.findLast(
    (message) => isRecord(message) && message['id'] === messageId && message['role'] === 'assistant',
  );
  return continued ?? messages.at(-1);
}

function shownMessage(message: unknown, bounds: ContentBounds): ShownMessage | undefined {
  if (!isRecord(message)) return undefined;
  const { id, role, parts } = message;
  if (role !== 'user' || !isId(id) || !Array.isArray(parts)) return undefined;
  const shown: readonly unknown[] = parts.filter((part: unknown) => !isEmptyText(part));
  return { id, parts: shown, read: () => readMessage(message, bounds) };
}

function readMessage(message: Members, { acceptsFileUrl, values }: ContentBounds): IncomingMessage {
  requireSmall(message, values);
  const { id, role, parts, metadata } = message;
  if (role !== 'user') throw invalid('The last message must be one of the user or of the assistant.');
  if (!isId(id)) throw invalid(`The message needs an "id" of 1 to ${LONGEST_ID} characters.`);
  if (!Array.isArray(parts)) throw invalid('The message needs "parts".');
  const shown = parts.filter((part: unknown) => !isEmptyText(part));
  const dataParts = new Map([...shown.entries()].filter(isDataEntry));
  const content = shown.flatMap((part, index) =>
    dataParts.has(index) ? [] : readPart(part, acceptsFileUrl),
  );
  if (content.length === 0) throw invalid('The message needs a text or a file.');
  const kept = { ...(isRecord(metadata) && withoutTags(metadata)), ...dataPartsMetadata(dataParts) };
  return { id, content, metadata: Object.keys(kept).length > 0 ? (kept as JsonObject) : undefined };
}

function isEmptyText(part: unknown): boolean {
  return (
    isRecord(part) &&
    part['type'] === 'text' &&
    typeof part['text'] === 'string' &&
    part['text'].trim() === ''
  );
}

function isDataEntry(entry: [number, unknown]): entry is [number, DataPart] {
  return isRecord(entry[1]) && isDataPart(entry[1]);
}

function readPart(part: unknown, acceptsFileUrl: ContentBounds['acceptsFileUrl']): UserPart {
  if (!isRecord(part)) throw invalid('Each part of the message must be an object.');
  const { type, text } = part;
  if (type === 'file') return readFile(part, acceptsFileUrl);
  if (type !== 'text')
    throw invalid('A message of the user has parts of the types "text", "file" and "data-…".');
  if (typeof text !== 'string') throw invalid('A text part needs a "text".');
  return { type, text };
}

function readFile(part: Members, acceptsFileUrl: ContentBounds['acceptsFileUrl']): FilePart {
  const { mediaType, url, filename } = part;
  const isTyped = typeof mediaType === 'string' && /^[\w.+-]+\/[\w.+*-]+$/.test(mediaType);
  if (!isTyped) throw invalid('A file part needs a "mediaType", such as "image/png".');
  if (typeof url !== 'string' || !URL.canParse(url)) throw invalid('A file part needs a "url".');
  const name = typeof filename === 'string' ? { filename } : {};
  const data = base64Of(url);
  if (data !== undefined) return { type: 'file', mediaType, data: { type: 'data', data }, ...name };
  const { protocol } = new URL(url);
  if (protocol === 'data:') throw invalid('A file as a "data:" URL must be base64.');
  if (protocol !== 'https:' || !acceptsFileUrl(new URL(url)))
    throw invalid('Send the content of a file as a "data:" URL. This server accepts no other URL for it.');
  return { type: 'file', mediaType, data: { type: 'url', url }, ...name };
}

function base64Of(url: string): string | undefined {
  const comma = url.indexOf(',');
  const isBase64 = url.startsWith('data:') && url.slice(0, comma).endsWith(';base64');
  const data = url.slice(comma + 1);
  return isBase64 && /^[A-Za-z0-9+/]*={0,2}$/.test(data) ? data : undefined;
}

function withoutTags(metadata: Members): Members {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !TAGS.has(name)));
}

/** Reads the decisions and answers of a message. The server uses those that a call still waits for. */
function readAnswers(
  { id, metadata, parts }: Members,
  known: string | undefined,
  { values }: ContentBounds,
): ChatCommand {
  if (!isId(id)) throw invalid(`The message needs an "id" of 1 to ${LONGEST_ID} characters.`);
  if (!Array.isArray(parts) || !parts.every(isPart)) throw invalid('The message needs "parts" with types.');
  const calls: readonly Members[] = parts.filter((part) => 'toolCallId' in part);
  const answers = calls.flatMap((call) => readAnswer(call, values));
  return {
    type: 'answer',
    decisions: calls.flatMap(readDecision),
    answers,
    continued: { id, role: 'assistant', metadata, parts },
    known,
  };
}

function isPart(part: unknown): part is UIMessage['parts'][number] {
  return isRecord(part) && typeof part['type'] === 'string';
}

function readDecision({ state, approval, input }: Members): IncomingDecision[] {
  if (state !== 'approval-responded' || !isRecord(approval)) return [];
  const { id, approved, reason } = approval;
  if (typeof id !== 'string' || typeof approved !== 'boolean')
    throw invalid('A decision needs the "id" of its approval, and "approved": true or false.');
  const given = typeof reason === 'string' ? reason : undefined;
  return [{ approvalId: id, isApproved: approved, reason: given, input }];
}

function readAnswer(call: Members, values: number): IncomingAnswer[] {
  const { state, toolCallId, output = null, errorText, providerExecuted } = call;
  if (typeof toolCallId !== 'string' || providerExecuted === true) return [];
  if (state === 'output-error') {
    const error = typeof errorText === 'string' ? errorText : 'The tool failed.';
    return [{ toolCallId, read: () => ({ error }) }];
  }
  if (state !== 'output-available') return [];
  const read = (): { readonly value: unknown } => {
    requireSmall(output, values);
    return { value: output };
  };
  return [{ toolCallId, read }];
}

/** Returns a member that is an id; `undefined` without it. @throws ChatRequestError `CHAT_REQUEST_INVALID`. */
export function optionalId(body: Members, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (isId(value)) return value;
  throw invalid(`"${name}" must be a text of 1 to ${LONGEST_ID} characters.`);
}

/** True for an id that a page may choose. */
export function isId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= LONGEST_ID &&
    value !== '.' && // no URL can have these segments
    value !== '..' &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value)
  );
}

function invalid(message: string): ChatRequestError {
  return new ChatRequestError('CHAT_REQUEST_INVALID', message);
}
