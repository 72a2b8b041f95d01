import { AgentSession, type AgentState } from '@holdfast/core';
import { openSessionStore, type SessionStoreName } from '../session-stores.ts';
import type { StorePeer, StorePlace } from '../store-peer.ts';

const LEASE_SECONDS = 600;

/** A store of this repository; `isClaimed` saves under a claim, as `SessionRuntime` does. */
export async function ours(
  name: SessionStoreName,
  place: StorePlace,
  first: AgentState,
  isClaimed = false,
): Promise<StorePeer> {
  const { store, close } = await openSessionStore(name, place);
  let session = await store.create(AgentSession.create({ definition: { name: 'bench' }, state: first }));
  const { sessionId } = session;
  let epoch: number | undefined;
  if (isClaimed) {
    const claimed = await store.claim(sessionId, { workerId: 'bench', leaseSeconds: LEASE_SECONDS });
    [session, epoch] = [claimed.session, claimed.claim.epoch];
  }
  return {
    prepare: ({ state }) => {
      const next = session.withState(state);
      return async () => (session = await store.save(next, { base: session, epoch }));
    },
    messages: async () => (await store.load(sessionId))?.state.messages.length ?? 0,
    close,
  };
}
