import { ChatRequestError } from './chat-error.ts';
import type { MountedRequest } from './mount.ts';

/**
 * Reads the JSON body of a request, and stops at the limit. A body that a parser has read before is used as it is.
 * @throws ChatRequestError `CHAT_TYPE_UNKNOWN`, `CHAT_BODY_TOO_LARGE` or `CHAT_REQUEST_INVALID`.
 */
export async function readBody(
  request: Request,
  mounted: MountedRequest,
  limit: number,
): Promise<Readonly<Record<string, unknown>>> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new ChatRequestError('CHAT_TYPE_UNKNOWN', 'Send JSON, with the content type application/json.');
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge(limit);
  const { body } = mounted;
  const isParsed = typeof body === 'object' && body !== null && !(body instanceof Uint8Array);
  const value = isParsed ? body : parsed(await textOf(request, body, limit));
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ChatRequestError(
    'CHAT_REQUEST_INVALID',
    'The body must be a JSON object. Mount the chat before a function that reads bodies, other than a JSON parser.',
  );
}

async function textOf({ body }: Request, read: unknown, limit: number): Promise<string> {
  if (typeof read === 'string') return read;
  const decoder = new TextDecoder();
  if (read instanceof Uint8Array) return decoder.decode(read);
  let [text, length] = ['', 0];
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > limit) throw tooLarge(limit);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(limit: number): ChatRequestError {
  const message = `The body has more than ${limit} bytes. Send less at once.`;
  return new ChatRequestError('CHAT_BODY_TOO_LARGE', message);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
