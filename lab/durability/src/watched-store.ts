import type { Store } from './stores.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AgentSession, AgentStep } from '@holdfast/core';
import type { Faults } from './faults.ts';
import type { Entry, Journal } from './journal.ts';

/** A store with some of its methods replaced. */
export function overriding(store: Store, own: Partial<Store>): Store {
  return Object.assign(Object.create(store) as Store, own);
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
  store: Store,
  { journal, faults, epochs }: { journal: Journal; faults: Faults; epochs: Map<string, number> },
): Store {
  return overriding(store, {
    async claim(sessionId, options) {
      faults.reach('before-claim');
      const claimed = await store.claim(sessionId, options);
      const { epoch } = claimed.claim;
      epochs.set(sessionId, epoch);
      const { version } = claimed.session;
      journal.write({ type: 'claimed', sessionId, epoch, version, ...inferenceFacts(claimed.session) });
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
        ...inferenceFacts(saved),
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

type InferenceFact = 'execution' | 'failures' | 'waitsUntil' | 'fallback';

/** The failed calls of the model, its next call, and the model in use. */
function inferenceFacts(session: AgentSession): Pick<Entry, InferenceFact> {
  const { execution } = session.state;
  const waiting = execution?.waiting.find(({ type }) => type === 'retry');
  return {
    failures: failuresOf(session),
    ...(execution && { execution: execution.executionId }),
    ...(waiting?.type === 'retry' && { waitsUntil: waiting.until ?? null }),
    ...(execution?.fallback && { fallback: execution.fallback }),
  };
}

/** The number of failed calls of the model. */
export function failuresOf(session: AgentSession): number {
  return stepsOf(session).flatMap(({ inferenceFailures }) => inferenceFailures).length;
}

function stepsOf({ state }: AgentSession): readonly AgentStep[] {
  return [...state.steps, ...(state.currentStep ? [state.currentStep] : [])];
}

/** The calls of a session that have an outcome. */
function finishedCalls(session: AgentSession): readonly string[] {
  return stepsOf(session).flatMap(({ toolExecutions }) =>
    toolExecutions.flatMap(({ call, outcome }) => (outcome ? [call.toolCallId] : [])),
  );
}
