import type { Store } from './stores.ts';
import { hasErrorCode, type AgentLoop, type AgentState, type SessionConflictError } from '@holdfast/core';
import type { Checkpoint } from '@holdfast/core/engine';
import type { Account } from './agent.ts';
import { overriding } from './watched-store.ts';

/** A protection of a session. The tests remove each of them, to see that a check fails without it. */
export type Protection = 'claim' | 'fence' | 'intent' | 'claim-check' | 'operation-id' | 'wait' | 'fallback';

/** A store without a protection. */
export function storeWithout(protection: Protection | undefined, store: Store): Store {
  switch (protection) {
    case 'claim': // every worker has every claim
      return overriding(store, {
        claim: (sessionId, options) => store.claim(sessionId, { ...options, workerId: 'everybody' }),
      });
    case 'fence': // a save uses the current claim
      return overriding(store, {
        save: (session, options) =>
          store.save(session, options).catch((error: unknown) => {
            if (!hasErrorCode(error, 'SESSION_CONFLICT')) throw error;
            const { kind, actual } = error as SessionConflictError;
            if (kind !== 'fenced') throw error;
            return store.save(session, { ...options, epoch: actual });
          }),
      });
    case 'operation-id':
      return overriding(store, {
        save: (session, options) => store.save(session, { ...options, operationId: undefined }),
      });
    case 'intent':
    case 'claim-check':
    case 'wait':
    case 'fallback':
    case undefined:
      return store;
  }
}

/** A loop without a protection. `onMayAct` is called after each check that a tool may be called. */
export function loopWithout(
  protection: Protection | undefined,
  loop: AgentLoop<Account>,
  onMayAct: () => void,
): AgentLoop<Account> {
  const changed = (checkpoint: Checkpoint): Checkpoint => ({
    save: async (state, point) =>
      protection === 'intent' && point === 'intent' ? state : checkpoint.save(state, point),
    async mayAct() {
      const mayAct = protection === 'claim-check' || ((await checkpoint.mayAct?.()) ?? true);
      if (mayAct) onMayAct();
      return mayAct;
    },
  });
  return {
    ...loop,
    run: (state, options) => {
      const { checkpoint } = options;
      const known = stateWithout(protection, state);
      return loop.run(known, { ...options, checkpoint: checkpoint && changed(checkpoint) });
    },
  };
}

/** The state without the wait or the fallback that an earlier process saved. */
function stateWithout(protection: Protection | undefined, state: AgentState): AgentState {
  const { execution, currentStep } = state;
  const at = Date.now();
  if (protection === 'fallback' && execution)
    return state.withExecution(execution.withFallback(undefined), at);
  if (protection !== 'wait' || !currentStep?.pendingRetry) return state;
  return state
    .withCurrentStep(currentStep.withInferenceRetried(at), at)
    .withExecutionStatus('inProgress', at);
}
