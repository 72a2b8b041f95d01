import {
  createAgentLoop,
  InProcessEngine,
  MemorySessionStore,
  SessionRuntime,
  type AgentLoopOptions,
  type SessionStore,
} from '@holdfast/core';
import { MemorySessionChannel, type SessionChannel } from '@holdfast/core/channel';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import { chatHandler, type ChatHandlerOptions } from '@holdfast/ui-ai-sdk/handler';
import { HoldfastChatTransport, type HoldfastChatTransportOptions } from '@holdfast/ui-ai-sdk/transport';
import type { ChatInit, UIMessage } from 'ai';
import { ChatServer } from './chat-server.ts';
import { TestChat } from './test-chat.ts';

export const OWNER = 'ada';

/** A web process, a worker, and pages over HTTP. */
export interface ChatWorld extends AsyncDisposable {
  readonly runtime: SessionRuntime;
  readonly server: ChatServer;
  readonly handler: (request: Request, connection?: unknown) => Promise<Response>;
  /** A page of the chat; `detach` closes it. */
  readonly page: (
    chatId: string,
    init?: Partial<ChatInit<UIMessage>>,
    options?: HoldfastChatTransportOptions,
  ) => TestPage;
  /** The messages of the saved session. */
  readonly saved: (chatId: string) => Promise<UIMessage[]>;
}

/** A page with the chat of the AI SDK. */
export interface TestPage {
  readonly chat: TestChat;
  readonly transport: HoldfastChatTransport;
  readonly close: () => void;
}

interface WorldOptions {
  readonly store?: SessionStore;
  readonly channel?: SessionChannel;
  readonly handler?: Partial<ChatHandlerOptions>;
  readonly isServing?: boolean;
}

export async function chatWorld(
  agent: AgentLoopOptions,
  {
    store = new MemorySessionStore(),
    channel = new MemorySessionChannel(),
    handler: init = {},
  }: WorldOptions = {},
): Promise<ChatWorld> {
  const runtime = new SessionRuntime({ store, channel, agents: { guide: createAgentLoop(agent) } });
  const engine = new InProcessEngine();
  const worker = await engine.serve((id, options) => runtime.advance(id, options));
  const authorize = (): { owner: string } => ({ owner: OWNER });
  const handler = chatHandler({ runtime, engine, channel, agent: 'guide', authorize, ...init });
  const server = await ChatServer.start(handler);
  const closers: (() => void)[] = [];
  return {
    runtime,
    server,
    handler,
    page(id, chatInit = {}, options = {}) {
      const transport = new HoldfastChatTransport({ api: `${server.url}/api/chat`, ...options });
      const { hasNewAnswers: sendAutomaticallyWhen } = transport;
      const chat = new TestChat({ id, transport, sendAutomaticallyWhen, ...chatInit });
      const close = transport.attach(chat);
      closers.push(close);
      return { chat, transport, close };
    },
    async saved(chatId) {
      return toUIMessages((await runtime.get(`${OWNER}/${chatId}`)).state);
    },
    async [Symbol.asyncDispose]() {
      for (const close of closers) close();
      await server[Symbol.asyncDispose]();
      await worker.stop();
    },
  };
}
