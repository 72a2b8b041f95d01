import { AgentSession, sendMessage, SessionRuntime, type AgentState } from '@holdfast/core';
import type { Job } from '../loop/job.ts';
import { coreLoop, firstState } from '../peers/core.ts';
import { openSessionStore, type OpenStore, type SessionStoreName } from '../stores/session-stores.ts';
import type { RunStep, StorePlace } from '../stores/store-peer.ts';
import { oneByOne, withWrites, type AroundWrite } from './writes.ts';

/**
 * `loop` keeps nothing. `sqlite one by one` is the same store, which gets a write when the one before has ended: no two
 * share a commit.
 */
export type BusyName = 'loop' | SessionStoreName | 'sqlite one by one';

export const BUSY_NAMES: readonly BusyName[] = [
  'loop',
  'memory',
  'redis',
  'sqlite',
  'sqlite NORMAL',
  'sqlite one by one',
];

/** Something that many sessions use at once. */
export interface BusyPeer {
  /** Runs the job, each time in a session of its own. */
  readonly run: (job: Job) => () => Promise<string | undefined>;
  /** Begins a session, and gives what saves its next step; `undefined` when it saves nothing. */
  readonly begin: ((first: AgentState) => Promise<(step: RunStep) => Promise<unknown>>) | undefined;
  /** How many writes it was asked for. */
  writes(): number;
  close(): Promise<void>;
}

const AGENT = 'bench';
const LEASE_SECONDS = 600;

/** Opens one; a store at a place of its own. */
export async function openBusyPeer(name: BusyName, place: StorePlace): Promise<BusyPeer> {
  switch (name) {
    case 'loop':
      return loopOnly();
    case 'sqlite one by one':
      return sessionsIn(await openSessionStore('sqlite', place), oneByOne());
    default:
      return sessionsIn(await openSessionStore(name, place), (write) => write());
  }
}

function loopOnly(): BusyPeer {
  return {
    run: (job) => {
      const loop = coreLoop(job);
      return async () => (await loop.run(firstState(job))).finalResponse;
    },
    begin: undefined,
    writes: () => 0,
    close: async () => {},
  };
}

function sessionsIn(open: OpenStore, around: AroundWrite): BusyPeer {
  let writes = 0;
  const store = withWrites(open.store, (write) => {
    writes++;
    return around(write);
  });
  return {
    run: (job) => {
      const runtime = new SessionRuntime({ store, agents: { [AGENT]: coreLoop(job) } });
      return async () => {
        const { sessionId } = await runtime.create({ definition: { name: AGENT } });
        return (await runtime.execute(sessionId, sendMessage(job.user))).state.finalResponse;
      };
    },
    begin: async (state) => {
      const { sessionId } = await store.create(AgentSession.create({ definition: { name: AGENT }, state }));
      const claimed = await store.claim(sessionId, { workerId: sessionId, leaseSeconds: LEASE_SECONDS });
      const { epoch } = claimed.claim;
      let session = claimed.session;
      return async (step) => {
        session = await store.save(session.withState(step.state), { base: session, epoch });
      };
    },
    writes: () => writes,
    close: () => open.close(),
  };
}
