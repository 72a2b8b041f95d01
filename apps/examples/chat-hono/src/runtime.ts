import { SessionRuntime } from '@holdfast/core';
import { SqliteSessionChannel, SqliteSessionStore } from '@holdfast/store-sqlite';
import { agents, folder } from 'chat-shared/agent';

export const store = await SqliteSessionStore.open({ path: `${folder}/chats.db` });
export const channel = await SqliteSessionChannel.open({ path: `${folder}/live.db` });
export const runtime = new SessionRuntime({ store, channel, agents, leaseSeconds: 5 });
