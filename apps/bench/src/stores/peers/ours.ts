import type { AgentState, SessionStore } from '@holdfast/core';
import { AgentSession, MemorySessionStore } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { join } from 'node:path';
import type { StorePeer, StorePlace } from '../store-peer.ts';

/** `@holdfast/store-redis`. */
export async function redis({ url }: StorePlace, first: AgentState): Promise<StorePeer> {
  return keptIn(await RedisSessionStore.open({ url }), first);
}

/** `@holdfast/store-sqlite`. */
export async function sqlite({ folder }: StorePlace, first: AgentState): Promise<StorePeer> {
  return keptIn(await SqliteSessionStore.open({ path: join(folder, 'sessions.db') }), first);
}

/** The store of core for tests. */
export function memory(first: AgentState): Promise<StorePeer> {
  return keptIn(new MemorySessionStore(), first);
}

async function keptIn(store: SessionStore, first: AgentState): Promise<StorePeer> {
  let session = await store.create(AgentSession.create({ definition: { name: 'bench' }, state: first }));
  return {
    prepare: ({ state }) => {
      const next = session.withState(state);
      return async () => (session = await store.save(next, { base: session }));
    },
    messages: async () => (await store.load(session.sessionId))?.state.messages.length ?? 0,
    close: () => store.close(),
  };
}
