import { SessionRuntime } from '@holdfast/core';
import type { SessionEvent } from '@holdfast/core';
import { agentLoop, definition } from './agent.ts';
import type { Settings } from './command-line.ts';
import { chooseModel } from './model-choice.ts';
import type { ModelChoice } from './model-choice.ts';
import { openStore } from './store-choice.ts';

/** The agent, its sessions and its model, for the page and the terminal. */
export interface Playground {
  readonly runtime: SessionRuntime;
  readonly model: ModelChoice;
  /** Closes the store. */
  close(): Promise<void>;
}

/** How long a session waits for a process that was killed. */
const leaseSeconds = 3;

/** How to wait for a busy session: long enough for the claim of a dead worker to expire, and no longer. */
export const patience = { whenBusy: 'refuse', waitSeconds: leaseSeconds + 1 } as const;

/** @throws HoldfastError when the database cannot be opened or is invalid. */
export async function openPlayground(
  settings: Settings,
  onSessionEvent?: (event: SessionEvent) => void,
): Promise<Playground> {
  const model = chooseModel(settings.model);
  const store = await openStore(settings.store, settings.data, settings.servers);
  const runtime = new SessionRuntime({
    store,
    agents: { [definition.name]: agentLoop(model, settings) },
    leaseSeconds,
    ...(onSessionEvent && { onSessionEvent }),
  });
  return { runtime, model, close: () => store.close() };
}
