import { createAgentLoop, InProcessEngine, SessionRuntime } from '@holdfast/core';
import { PollingEngine, type QueueEngine, type Schedule } from '@holdfast/core/engine';
import { until } from 'test-servers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openQueue } from '../../src/engine/queue.ts';
import { openStore, type Store } from '../../src/stores.ts';
import { serverOfBlock, TESTED_STORES, type NewLocation } from '../servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newQueue, startQueueServer } from './support/queue-server.ts';

/** The schedules of the sessions, by the session id. */
const SCHEDULES: Readonly<Record<string, Schedule>> = {
  'no lane and no group': {},
  'a group': { group: 'ann' },
  'another group': { group: 'bob' },
  'a lane': { lane: 'x' },
  'a lane and a group': { lane: 'x', group: 'ann' },
};
const SESSIONS = Object.keys(SCHEDULES);
const MESSAGES = ['one', 'two', 'three'];
const groupConcurrency = 1;

type OpenEngine = (store: Store) => Promise<QueueEngine>;

let server: Awaited<ReturnType<typeof startQueueServer>>;
beforeAll(async () => {
  server = await startQueueServer();
});
afterAll(() => server.stop());

/** Engines that limit groups, each with a turn for each step. */
const ENGINES: Readonly<Record<string, OpenEngine>> = {
  'in memory': async () => new InProcessEngine({ groupConcurrency, stepsPerTurn: 1 }),
  'by polls': async (store) =>
    new PollingEngine({
      store,
      groupConcurrency,
      stepsPerTurn: 1,
      pollSeconds: 0.5,
      againAfterSeconds: 0.2,
    }),
  async 'with BullMQ'() {
    const engine = await openQueue(newQueue(server));
    onTestFinished(() => engine.close());
    return engine;
  },
};

/** Sends each session three messages. Waits for all responses to each. */
async function converse(store: Store, engine: QueueEngine): Promise<void> {
  const agents = { clerk: createAgentLoop({ driver: { infer: async () => ({ text: 'Done.' }) } }) };
  const schedule = ({ sessionId }: { readonly sessionId: string }): Schedule => SCHEDULES[sessionId] ?? {};
  const runtime = new SessionRuntime({ store, agents, schedule });
  const served = await engine.serve((id, options) => runtime.advance(id, options));
  onTestFinished(() => served.stop());
  for (const sessionId of SESSIONS) await runtime.create({ sessionId, definition: { name: 'clerk' } });
  for (const [index, content] of MESSAGES.entries()) {
    for (const sessionId of SESSIONS) await runtime.enqueue(sessionId, { type: 'message', content });
    for (const sessionId of SESSIONS) await engine.wake(sessionId);
    await until(`message "${content}" has all its responses`, async () => {
      const all = await Promise.all(SESSIONS.map((sessionId) => runtime.get(sessionId)));
      return all.every(({ totals, state }) => totals.executions > index && state.status === 'completed');
    });
  }
}

async function storeIn(name: string, newLocation: NewLocation): Promise<Store> {
  const store = await openStore(name, await newLocation(temporaryFolder()));
  onTestFinished(() => store.close());
  return store;
}

describe.each(TESTED_STORES)('on $name', (tested) => {
  const newLocation = serverOfBlock(tested);
  /** Only the engine that polls depends on the store. */
  const engines = Object.entries(ENGINES).filter(([name]) => tested.name === 'sqlite' || name === 'by polls');

  test.each(engines)(
    'an engine that works %s advances sessions with and without lanes and groups, turn after turn',
    async (_, openEngine) => {
      const store = await storeIn(tested.name, newLocation);
      await converse(store, await openEngine(store));
      expect((await store.due()).sessions).toEqual([]);
    },
  );
});
