import { AsyncLocalStorage } from 'node:async_hooks';
import type { AgentSession, SessionStore } from '@holdfast/core';
import type { Faults } from './faults.ts';
import type { Journal } from './journal.ts';

/** A store with some of its methods replaced. */
export function overriding(store: SessionStore, own: Partial<SessionStore>): SessionStore {
  return Object.assign(Object.create(store) as SessionStore, own);
}

/** True while a save is under way: other writes are not meant to be interrupted. */
const saving = new AsyncLocalStorage<true>();

/** To be called by a store that is in the middle of a write. */
export function midWrite(faults: Faults): () => void {
  return () => {
    if (saving.getStore()) faults.reach('mid-save');
  };
}

/** A store that notes claims and saves down, and at which faults occur. `epochs` has the claims of this process. */
export function watched(
  store: SessionStore,
  { journal, faults, epochs }: { journal: Journal; faults: Faults; epochs: Map<string, number> },
): SessionStore {
  return overriding(store, {
    async claim(sessionId, options) {
      faults.reach('before-claim');
      const claimed = await store.claim(sessionId, options);
      const { epoch } = claimed.claim;
      epochs.set(sessionId, epoch);
      journal.write({ type: 'claimed', sessionId, epoch, version: claimed.session.version });
      faults.reach('after-claim');
      return claimed;
    },
    async save(session, options) {
      faults.reach('before-save');
      const saved = await saving.run(true, () => store.save(session, options));
      const { sessionId, version } = saved;
      journal.write({
        type: 'saved',
        sessionId,
        epoch: options?.epoch ?? 0,
        version,
        finished: finishedCalls(saved),
      });
      faults.reach('after-save');
      return saved;
    },
    async release(claim, options) {
      faults.reach('before-release');
      const released = await store.release(claim, options);
      faults.reach('after-release');
      return released;
    },
  });
}

/** The calls of a session that have an outcome. */
function finishedCalls({ state }: AgentSession): readonly string[] {
  const steps = [...state.steps, ...(state.currentStep ? [state.currentStep] : [])];
  return steps.flatMap(({ toolExecutions }) =>
    toolExecutions.flatMap(({ call, outcome }) => (outcome ? [call.toolCallId] : [])),
  );
}
