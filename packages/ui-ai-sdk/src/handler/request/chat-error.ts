import { HoldfastError } from '@holdfast/core';

/** The codes of `ChatRequestError`, with the HTTP status of each. */
export const CHAT_STATUS = {
  CHAT_REQUEST_INVALID: 400,
  CHAT_UNAUTHORIZED: 401,
  CHAT_ORIGIN_REFUSED: 403,
  CHAT_DECISION_REFUSED: 403,
  CHAT_NOT_FOUND: 404,
  CHAT_METHOD_UNKNOWN: 405,
  CHAT_BUSY: 409,
  CHAT_CHANGED: 409,
  CHAT_EXISTS: 409,
  CHAT_BODY_TOO_LARGE: 413,
  CHAT_TYPE_UNKNOWN: 415,
  CHAT_RATE_LIMITED: 429,
  CHAT_FAILED: 500,
  CHAT_UNAVAILABLE: 503,
} as const;

/** The code of an error response of a chat handler. */
export type ChatErrorCode = keyof typeof CHAT_STATUS;

/** A request that a chat handler refused. */
export class ChatRequestError extends HoldfastError {
  declare readonly code: ChatErrorCode;

  constructor(code: ChatErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(code, message, options);
  }
}

/** The errors of core that tell the page something it can act on. */
const KNOWN: Readonly<Record<string, readonly [code: ChatErrorCode, message: string]>> = {
  SESSION_NOT_FOUND: ['CHAT_NOT_FOUND', 'This chat does not exist.'],
  SESSION_BUSY: ['CHAT_BUSY', 'A worker has this chat. Try again in a moment.'],
  SESSION_REFUSED: ['CHAT_BUSY', 'This chat accepts no messages.'],
  SESSION_CONFLICT: ['CHAT_BUSY', 'Another request changed this chat. Try again.'],
  EXECUTION_ACTIVE: ['CHAT_BUSY', 'The response to an earlier message is not complete.'],
  APPROVAL_NOT_FOUND: ['CHAT_CHANGED', 'No such call waits for approval. Load the messages again.'],
  APPROVAL_DECIDED: ['CHAT_CHANGED', 'This call was decided before. Load the messages again.'],
  APPROVAL_OUTDATED: ['CHAT_CHANGED', 'The call requests approval again. Load the messages again.'],
  ANSWER_NOT_FOUND: ['CHAT_CHANGED', 'No such call waits for an answer. Load the messages again.'],
  ANSWER_GIVEN: ['CHAT_CHANGED', 'This call was answered before. Load the messages again.'],
  INBOX_FULL: ['CHAT_RATE_LIMITED', 'Too many messages wait in this chat. Try again later.'],
  STORE_THROTTLED: ['CHAT_UNAVAILABLE', 'The service accepts no more requests. Try again in a moment.'],
  STORE_UNAVAILABLE: ['CHAT_UNAVAILABLE', 'The service does not reply. Try again in a moment.'],
  CHANNEL_UNAVAILABLE: ['CHAT_UNAVAILABLE', 'The service does not reply. Try again in a moment.'],
  SESSION_TOO_LARGE: ['CHAT_BODY_TOO_LARGE', 'This chat has become too large.'],
};

/** The errors of core with a message for the caller: it names values that the caller sent. */
const INVALID = new Set(['ARGUMENT_INVALID', 'ANSWER_INVALID', 'NOT_JSON']);

/** Returns the error for the page. An unknown error does not show its message, which could be a secret. */
export function toChatError(error: unknown): ChatRequestError {
  if (error instanceof ChatRequestError) return error;
  const code = codeOf(error);
  const [known, message] = KNOWN[code] ?? [];
  if (known && message) return new ChatRequestError(known, message, { cause: error });
  if (INVALID.has(code)) return new ChatRequestError('CHAT_REQUEST_INVALID', (error as Error).message);
  return new ChatRequestError('CHAT_FAILED', 'The request failed.', { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Returns the response for an error: JSON with `code` and `message`. */
export function errorResponse({ code, message }: ChatRequestError): Response {
  return Response.json({ error: { code, message } }, { status: CHAT_STATUS[code] });
}
