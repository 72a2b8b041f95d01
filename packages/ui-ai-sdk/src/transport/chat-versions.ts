import type { UIMessage } from 'ai';
import { digestOf } from '../wire/digest.ts';
import type { ChatVersion } from '../wire/response-event.ts';
import type { ChatConnection } from './chat-connection.ts';
import type { ChatRecord } from './chat-record.ts';
import { untilVisible, whileVisible } from './tab.ts';

/**
 * Returns the versions of a chat over many connections, while its tab is visible and no stream is open. A chat that does
 * not exist yet is waited for.
 */
export async function* chatVersions(
  connection: ChatConnection,
  chat: ChatRecord<UIMessage>,
  signal: AbortSignal,
): AsyncGenerator<ChatVersion, void, undefined> {
  const { streams } = chat;
  for (let attempt = 0; !signal.aborted; attempt++) {
    // Browsers limit the connections to a server. A hidden tab needs none, and a page that reads a response has one.
    await untilVisible(signal);
    await streams.untilClosed();
    const visible = whileVisible(AbortSignal.any([signal, streams.signal]));
    try {
      for await (const event of watch(connection, chat, visible.signal)) {
        if (event.version > 0) attempt = -1;
        yield event;
      }
    } catch (error) {
      if (signal.aborted || !visible.signal.aborted) throw error;
      if (streams.isOpen) attempt = -1;
    } finally {
      visible.leave();
    }
    // A chat without a message does not exist yet. Its first message can come from here, or from another page.
    await Promise.race([connection.pauseAfter(Math.max(0, attempt), signal), chat.untilConfirmed()]);
    signal.throwIfAborted();
  }
}

async function* watch(
  connection: ChatConnection,
  { path }: ChatRecord<UIMessage>,
  signal: AbortSignal,
): AsyncGenerator<ChatVersion, void, undefined> {
  const response = await connection.request({ method: 'GET', path: `${path}/watch`, signal });
  if (response.status === 204) yield { version: 0, isAtWork: false, digest: digestOf([]) }; // there is no such chat
  yield* connection.events(response, signal) as AsyncGenerator<ChatVersion, void, undefined>;
}
