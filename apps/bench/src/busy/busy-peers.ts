import { AgentSession, sendMessage, SessionRuntime } from '@holdfast/core';
import type { AgentState } from '@holdfast/core';
import type { Job } from '../loop/job.ts';
import { coreLoop, firstState } from '../peers/core.ts';
import type { OpenStore, SessionStoreName } from '../stores/session-stores.ts';
import { openDatabase, openSessionStore } from '../stores/session-stores.ts';
import type { RunStep, StorePlace } from '../stores/store-peer.ts';
import type { AroundWrite } from './writes.ts';
import { oneByOne, withWrites } from './writes.ts';

/**
 * `loop` keeps nothing. `sqlite one by one` is the same store, which gets a write when the one before has ended: no two
 * share a commit. `commit floor` is one transaction for each save, with one row added and a version checked.
 */
export type BusyName = 'loop' | SessionStoreName | 'sqlite one by one' | 'commit floor';

export const BUSY_NAMES: readonly BusyName[] = [
  'loop',
  'memory',
  'redis',
  'sqlite',
  'sqlite NORMAL',
  'sqlite one by one',
  'commit floor',
];

/** Something that many sessions use at once. */
export interface BusyPeer {
  /** Runs the job in a session of its own; `undefined` when it has no agent. */
  readonly run: ((job: Job) => () => Promise<string | undefined>) | undefined;
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
    case 'commit floor':
      return commitFloor(place);
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
      const claimed = await store.claim(sessionId, { owner: sessionId, leaseSeconds: LEASE_SECONDS });
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

function commitFloor(place: StorePlace): BusyPeer {
  const database = openDatabase(place, 'FULL');
  database.exec('CREATE TABLE session (id INTEGER PRIMARY KEY, version INTEGER) STRICT');
  database.exec('CREATE TABLE step (id INTEGER, number INTEGER, text TEXT, PRIMARY KEY (id, number)) STRICT');
  const create = database.prepare('INSERT INTO session VALUES (?, 0)');
  const update = database.prepare('UPDATE session SET version = version + 1 WHERE id = ? AND version = ?');
  const insert = database.prepare('INSERT INTO step VALUES (?, ?, ?)');
  let [sessions, writes] = [0, 0];
  return {
    run: undefined,
    begin: async () => {
      const id = sessions++;
      create.run(id);
      return async ({ index, messages, step }) => {
        writes++;
        const text = JSON.stringify([...messages, step]);
        database.exec('BEGIN IMMEDIATE');
        if (update.run(id, index).changes !== 1) throw new Error(`Another version than ${index} is there.`);
        insert.run(id, index, text);
        database.exec('COMMIT');
      };
    },
    writes: () => writes,
    close: async () => database.close(),
  };
}
