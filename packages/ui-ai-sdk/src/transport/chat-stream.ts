import type { UIMessage, UIMessageChunk } from 'ai';
import type { ChatConnection, ChatRequestInit } from './chat-connection.ts';
import type { ChatRecord } from './chat-record.ts';
import { responseChunks } from './response-chunks.ts';

/** The request that begins a stream. */
export interface StreamRequest extends ChatRequestInit {
  /** The message that the page shows and the stream continues. */
  readonly continued?: UIMessage | undefined;
  /** That message as the server has it. The server may send only what changes from there. */
  readonly known?: UIMessage | undefined;
  /** Called when the server has the request. */
  readonly onReply?: () => void;
}

/** A stream of a chat that the server has begun. */
interface ChatStream {
  /** False when no response is in progress. */
  readonly hasResponse: boolean;
  /** The chunks of the response, over as many connections as it takes. */
  readonly chunks: ReadableStream<UIMessageChunk>;
}

/** Opens a stream of a chat, and records it. @throws ChatResponseError when the server refuses. */
export async function openStream(
  connection: ChatConnection,
  chat: ChatRecord<UIMessage>,
  { continued, known, onReply, withdrawn, ...request }: StreamRequest,
): Promise<ChatStream> {
  const leave = chat.open(continued);
  try {
    const first = await connection.request({ ...request, withdrawn });
    onReply?.();
    const chunks = responseChunks({
      shown: continued,
      known,
      connect: connectionsOf(connection, chat, request, first),
      pauseAfter: (attempt) => connection.pauseAfter(attempt, request.signal),
      onMessage: (message) => chat.receive(message),
      onEnd(end) {
        leave();
        chat.end(end);
      },
    });
    return { hasResponse: first.status !== NO_CONTENT, chunks: chunkStream(chunks, leave) };
  } catch (error) {
    leave();
    chat.sync?.noteEnd('restart'); // the page has changed its messages, and the server has not
    throw error;
  }
}

/** Returns the path of the stream of a response: the named one, or the one in progress. */
export function streamPath({ path }: ChatRecord<UIMessage>, messageId: string | undefined): string {
  const named = messageId === undefined ? '' : `&message=${encodeURIComponent(messageId)}`;
  return `${path}/stream?format=events${named}`;
}

const NO_CONTENT = 204;

type Connect = (messageId: string | undefined) => Promise<AsyncIterable<unknown>>;

/** Returns the function that opens the connections of a stream: the first one has its response already. */
function connectionsOf(
  connection: ChatConnection,
  chat: ChatRecord<UIMessage>,
  request: ChatRequestInit,
  first: Response,
): Connect {
  const { headers, signal } = request;
  let next: Response | undefined = first;
  return async (messageId) => {
    const path = streamPath(chat, messageId);
    const again: ChatRequestInit = messageId ? { method: 'GET', path, headers, signal } : request;
    const response = next ?? (await connection.request(again));
    next = undefined;
    return response.status === NO_CONTENT ? gone() : connection.events(response, signal);
  };
}

/** The events of a response that is gone: its chat was deleted. */
async function* gone(): AsyncGenerator<unknown, void, undefined> {
  yield { type: 'restart' };
}

/** Returns chunks as a stream. The next chunk is made when the page has taken the one before. */
function chunkStream(
  chunks: AsyncGenerator<UIMessageChunk, void, undefined>,
  onEnd: () => void,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream<UIMessageChunk>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          controller.error(error);
        }
      },
      async cancel() {
        onEnd();
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}
