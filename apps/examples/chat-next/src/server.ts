import { SessionRuntime } from '@holdfast/core';
import { SqliteSessionChannel, SqliteSessionStore } from '@holdfast/store-sqlite';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import { agents, folder, mayDecide } from 'chat-shared/agent';

export const store = await SqliteSessionStore.open({ path: `${folder}/chats.db` });
const channel = await SqliteSessionChannel.open({ path: `${folder}/live.db` });
export const runtime = new SessionRuntime({ store, channel, agents, leaseSeconds: 5 });
/** The worker looks for work by itself: Next.js can load it as another instance of its modules. */
const engine = { wake: async () => undefined };
/** A real application reads the owner from its session cookie. */
const authorize = () => ({ owner: 'me' });
export const chats = chatHandler({ runtime, engine, channel, agent: 'clerk', authorize, mayDecide });
