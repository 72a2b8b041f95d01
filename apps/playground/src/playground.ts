import { join } from 'node:path';
import { SessionRuntime } from '@holdfast/core';
import type { SessionEvent } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { agentLoop, definition } from './agent.ts';
import type { Settings } from './command-line.ts';
import { chooseModel } from './model-choice.ts';
import type { ModelChoice } from './model-choice.ts';

/** The agent, its sessions and its model: what the page and the terminal share. */
export interface Playground {
  readonly runtime: SessionRuntime;
  readonly model: ModelChoice;
  /** Lets go of the database. */
  close(): Promise<void>;
}

/** @throws HoldfastError when the database cannot be opened or is none. */
export async function openPlayground(
  settings: Settings,
  onSessionEvent?: (event: SessionEvent) => void,
): Promise<Playground> {
  const model = chooseModel(settings.model);
  const store = await SqliteSessionStore.open({ path: join(settings.data, 'sessions.db') });
  const runtime = new SessionRuntime({
    store,
    agents: { [definition.name]: agentLoop(model, settings) },
    ...(onSessionEvent && { onSessionEvent }),
  });
  return { runtime, model, close: () => store.close() };
}
