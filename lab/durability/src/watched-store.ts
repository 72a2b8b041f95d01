import type { Store } from './stores.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AgentSession, AgentStep } from '@holdfast/core';
import type { Faults } from './faults.ts';
import type { Entry, Journal } from './journal.ts';

/** A store with some of its methods replaced. */
export function overriding(store: Store, own: Partial<Store>): Store {
  return Object.assign(Object.create(store) as Store, own);
}

/** The faults of the session whose save is under way: other writes are not meant to be interrupted. */
const saving = new AsyncLocalStorage<Faults>();

/** Stores call it in the middle of a write. */
export function midWrite(): void {
  saving.getStore()?.reachNow('mid-save');
}

/** The journal of a watched store, the faults of each session, and the claims of this process. */
interface Watch {
  readonly journal: Journal;
  readonly faultsOf: (sessionId: string) => Faults;
  readonly epochs: Map<string, number>;
}

/** A store that records claims and saves in the journal, and triggers faults. */
export function watched(store: Store, { journal, faultsOf, epochs }: Watch): Store {
  return overriding(store, {
    async claim(sessionId, options) {
      const faults = faultsOf(sessionId);
      await faults.reach('before-claim');
      const claimed = await store.claim(sessionId, options);
      const { epoch } = claimed.claim;
      epochs.set(sessionId, epoch);
      const { version } = claimed.session;
      journal.write({ type: 'claimed', sessionId, epoch, version, ...inferenceFacts(claimed.session) });
      await faults.reach('after-claim');
      return claimed;
    },
    async save(session, options) {
      const faults = faultsOf(session.sessionId);
      await faults.reach('before-save');
      const saved = await saving.run(faults, () => store.save(session, options));
      const { sessionId, version } = saved;
      journal.write({
        type: 'saved',
        sessionId,
        epoch: options?.epoch ?? 0,
        version,
        finished: finishedCalls(saved),
        ...inferenceFacts(saved),
      });
      await faults.reach('after-save');
      return saved;
    },
    async renew(claim, options) {
      await faultsOf(claim.sessionId).pass();
      return store.renew(claim, options);
    },
    async release(claim, options) {
      const faults = faultsOf(claim.sessionId);
      await faults.reach('before-release');
      const released = await store.release(claim, options);
      await faults.reach('after-release');
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
