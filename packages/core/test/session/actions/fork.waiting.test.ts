import {
  AgentSession,
  approve,
  createAgentLoop,
  describe as describeSession,
  MemorySessionStore,
  pendingApprovals,
  resume,
  sendMessage,
  SessionRuntime,
  tool,
  writeMetadata,
  type SessionAction,
} from '@holdfast/core';
import { sweep } from '@holdfast/core/engine';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does } from '../../support/builders.ts';

const definition = { name: 'helper' };
const LATER = 365 * 24 * 3_600_000;

/** A session with two messages and a tool call, and a count of the calls that its forks pay for. */
async function world() {
  const clock = manualClock(1_000_000);
  const store = new MemorySessionStore({ clock, keptRevisions: 100 });
  let paid = 0;
  const scripted = scriptedDriver(
    { calls: { a: {} } },
    'One.',
    'Two.',
    ...Array.from({ length: 9 }, () => 'Other.'),
  );
  const driver = {
    infer: async (...args: Parameters<typeof scripted.infer>) => (paid++, scripted.infer(...args)),
  };
  const loop = createAgentLoop({ driver, tools: [does('a', () => 1)], clock });
  const runtime = new SessionRuntime({ store, agents: { helper: loop }, clock });
  const { sessionId } = await runtime.create({ definition });
  const first = await runtime.execute(sessionId, sendMessage('Go.', { id: 'm1' }));
  await runtime.execute(sessionId, sendMessage('And?', { id: 'm2' }));
  const begun = paid;
  /** Sweeps and works, as a worker does for a year. Returns the number of calls of the model. */
  const work = async (): Promise<number> => {
    const engine = { wake: async (id: string) => void (await runtime.advance(id)) };
    await sweep(store, engine);
    clock.advance(LATER);
    await sweep(store, engine);
    return paid - begun;
  };
  const dueIds = async (): Promise<string[]> => {
    const { sessions } = await store.due({ at: clock.now() + LATER });
    return sessions.map(({ sessionId: id }) => id);
  };
  return {
    clock,
    store,
    runtime,
    sessionId,
    version: first.version,
    work,
    dueIds,
    calls: () => paid - begun,
  };
}

type ForkOptions = NonNullable<Parameters<SessionRuntime['fork']>[1]>;

const PLACES = (version: number): readonly ForkOptions[] => [
  {},
  { atStep: 0 },
  { atMessage: 'm1' },
  { atVersion: version },
  { atVersion: version, atStep: 1 },
  { atVersion: version, atMessage: 'm1' },
];

describe('a fork', () => {
  test('at any place waits, and no worker pays for it', async () => {
    const { store, runtime, sessionId, version, work, dueIds } = await world();
    for (const place of PLACES(version)) {
      const copy = await runtime.fork(sessionId, place);
      expect([copy.status, copy.state.status]).toEqual([
        'active',
        'atStep' in place || 'atMessage' in place ? 'pending' : undefined,
      ]);
      expect(await store.inspect(copy.sessionId)).toMatchObject({ dueAt: undefined, waitingItems: 0 });
    }
    expect(await dueIds()).toEqual([]);
    expect(await work()).toBe(0);
  });

  test.each<[string, SessionAction]>([
    ['a title', describeSession({ title: 'Copy' })],
    ['metadata', writeMetadata('seen', true)],
    ['a claim that changes nothing', (session) => session],
  ])('waits on after %s', async (_, action) => {
    const { runtime, sessionId, work, dueIds } = await world();
    const copy = await runtime.fork(sessionId, { atMessage: 'm2' });
    await runtime.execute(copy.sessionId, action);
    expect(await dueIds()).toEqual([]);
    expect(await work()).toBe(0);
    expect((await runtime.get(copy.sessionId)).state.status).toBe('pending');
  });

  test('that is asked for is due at once', async () => {
    const { runtime, sessionId, work, dueIds } = await world();
    const copy = await runtime.fork(sessionId, { atMessage: 'm2', isDue: true });
    expect(await dueIds()).toEqual([copy.sessionId]);
    expect(await work()).toBe(1);
    expect((await runtime.get(copy.sessionId)).state.status).toBe('completed');
  });

  test.each<[string, (runtime: SessionRuntime, id: string) => Promise<unknown>]>([
    ['resume()', (runtime, id) => runtime.execute(id, resume(), { steps: 'later' })],
    ['a message', (runtime, id) => runtime.execute(id, sendMessage('So?'), { steps: 'later' })],
    ['an inbox item', (runtime, id) => runtime.enqueue(id, { type: 'message', content: 'So?' })],
  ])('is due after %s, also when the caller dies then', async (_, act) => {
    const { runtime, sessionId, work, dueIds, calls } = await world();
    const copy = await runtime.fork(sessionId, { atMessage: 'm2' });
    await act(runtime, copy.sessionId);
    expect(calls()).toBe(0);
    expect(await dueIds()).toEqual([copy.sessionId]);
    expect(await work()).toBe(1);
    expect((await runtime.get(copy.sessionId)).state.status).toBe('completed');
  });

  test('whose worker dies before its first save is due when the claim expires', async () => {
    const { clock, store, runtime, sessionId, work, dueIds } = await world();
    const copy = await runtime.fork(sessionId, { atMessage: 'm2' });
    const { claim } = await store.claim(copy.sessionId, { workerId: 'dead', leaseSeconds: 60 });
    expect((await store.due({ at: clock.now() + 60_000 })).sessions).toMatchObject([{ dueAt: claim.until }]);
    expect(await dueIds()).toEqual([copy.sessionId]);
    expect(await work()).toBe(1);
  });

  test('continues when an engine is told to wake it', async () => {
    const { runtime, sessionId, calls } = await world();
    const copy = await runtime.fork(sessionId, { atStep: 0 });
    await runtime.advance(copy.sessionId);
    expect(calls()).toBe(1);
  });

  test('of a fork waits too, and so does its document', async () => {
    const { runtime, sessionId, dueIds } = await world();
    const copy = await runtime.fork(sessionId, { atMessage: 'm2' });
    const again = await runtime.fork(copy.sessionId, { atMessage: 'm2' });
    expect([copy.awaitsResume, again.awaitsResume]).toEqual([true, true]);
    expect(await dueIds()).toEqual([]);
    const document = JSON.parse(JSON.stringify(again));
    expect([document.version, AgentSession.fromJSON(document).awaitsResume]).toEqual([2, true]);
    expect(() => AgentSession.fromJSON({ ...document, version: 1 })).toThrow(/awaitsResume/u);
  });
});

test('a fork of a session that waits has none of its approvals and timeouts', async () => {
  const clock = manualClock(1_000_000);
  const store = new MemorySessionStore({ clock });
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    approvalTimeoutSeconds: 60,
    execute: () => 'paid',
  });
  const driver = scriptedDriver({ calls: { pay: {} } }, 'Done.');
  const agents = { helper: createAgentLoop({ driver, tools: [pay], clock }) };
  const runtime = new SessionRuntime({ store, agents, clock });
  const { sessionId } = await runtime.create({ definition });
  const original = await runtime.execute(sessionId, sendMessage('Pay.', { id: 'm1' }));
  expect(pendingApprovals(original.state)).toHaveLength(1);
  for (const place of [{}, { atStep: 0 }, { atMessage: 'm1' }]) {
    const copy = await runtime.fork(sessionId, place);
    expect(pendingApprovals(copy.state)).toEqual([]);
    expect((await store.inspect(copy.sessionId)).dueAt).toBeUndefined();
  }
  const due = await store.due({ at: clock.now() + LATER });
  expect(due.sessions.map((session) => session.sessionId)).toEqual([sessionId]);
  const [call = ''] = pendingApprovals(original.state);
  expect((await runtime.execute(sessionId, approve(call))).state.status).toBe('completed');
});
