import type { AgentState } from '@holdfast/core';
import { AgentSession } from '@holdfast/core';
import type { SessionStoreName } from '../session-stores.ts';
import { openSessionStore } from '../session-stores.ts';
import type { StorePeer, StorePlace } from '../store-peer.ts';

/** A store of this repository. */
export async function ours(name: SessionStoreName, place: StorePlace, first: AgentState): Promise<StorePeer> {
  const { store, close } = await openSessionStore(name, place);
  let session = await store.create(AgentSession.create({ definition: { name: 'bench' }, state: first }));
  return {
    prepare: ({ state }) => {
      const next = session.withState(state);
      return async () => (session = await store.save(next, { base: session }));
    },
    messages: async () => (await store.load(session.sessionId))?.state.messages.length ?? 0,
    close,
  };
}
