import { SessionRuntime, type AgentSession } from '@holdfast/core';
import { agentLoop, definition } from './agent.ts';
import type { Settings } from './command-line.ts';
import { chooseModel, type ModelChoice } from './model-choice.ts';
import { FORK_LABEL, titleOf } from './view/session-summary.ts';
import { openStorage, type Storage, type StoreName } from './store-choice.ts';

/** The agent, its sessions and its model, for the page and the terminal. */
export interface Playground extends Storage {
  /** The runtime of the sessions of this machine's user. */
  readonly runtime: SessionRuntime;
  readonly model: ModelChoice;
  readonly storeName: StoreName;
  /** Closes the store and the channel. */
  close(): Promise<void>;
}

/** The owner of all sessions of the playground. */
export const OWNER = 'playground';

/** How long a session waits for a process that was killed. */
export const leaseSeconds = 3;

/** How to wait for a busy session: long enough for the claim of a dead worker to expire, and no longer. */
export const patience = { whenBusy: 'refuse', waitSeconds: leaseSeconds + 1 } as const;

/** @throws HoldfastError when the database cannot be opened or is invalid. */
export async function openPlayground(settings: Settings): Promise<Playground> {
  const model = chooseModel(settings.model);
  const { store, channel } = await openStorage(settings.store, settings.data, settings.servers);
  const runtime = new SessionRuntime({
    store,
    channel,
    agents: { [definition.name]: agentLoop(model, settings) },
    hooks: { beforeSave: described },
    leaseSeconds,
  }).for(OWNER);
  const close = async () => {
    await channel.close();
    await store.close();
  };
  return { runtime, store, channel, model, storeName: settings.store, close };
}

/** Gives a session its title, and labels a fork, so that a list needs no session as a whole. */
function described(session: AgentSession): AgentSession {
  const { state, title = titleOf(state), forkedFrom, labels } = session;
  if (title !== session.title) return described(session.withDescription({ title }));
  if (forkedFrom === undefined || labels?.[FORK_LABEL] !== undefined) return session;
  return session.withDescription({ labels: { ...labels, [FORK_LABEL]: 'yes' } });
}
