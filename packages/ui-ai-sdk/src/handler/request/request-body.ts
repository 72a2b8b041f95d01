import { ChatRequestError } from '../chat-error.ts';

/**
 * Reads the JSON body of a request, and stops at the limit.
 * @throws ChatRequestError `CHAT_TYPE_UNKNOWN`, `CHAT_BODY_TOO_LARGE` or `CHAT_REQUEST_INVALID`.
 */
export async function readBody(request: Request, limit: number): Promise<Readonly<Record<string, unknown>>> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new ChatRequestError('CHAT_TYPE_UNKNOWN', 'Send JSON, with the content type application/json.');
  const text = await textOf(request, limit);
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ChatRequestError(
    'CHAT_REQUEST_INVALID',
    'The body must be a JSON object, and nothing may read it before the chat.',
  );
}

async function textOf({ body, headers }: Request, limit: number): Promise<string> {
  const tooLarge = () =>
    new ChatRequestError('CHAT_BODY_TOO_LARGE', `The body has more than ${limit} bytes. Send less at once.`);
  if (Number(headers.get('content-length')) > limit) throw tooLarge();
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > limit) throw tooLarge();
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
