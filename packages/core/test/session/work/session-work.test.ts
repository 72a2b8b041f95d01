import {
  approve,
  createAgentLoop,
  InProcessEngine,
  MemorySessionStore,
  metadataKey,
  pendingApprovals,
  sendMessage,
  StoreUnavailableError,
  SessionRuntime,
  subagent,
  tool,
  type Hook,
  type Tool,
  type Waiting,
} from '@holdfast/core';
import { SessionId } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, type ManualClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';

const schema = { type: 'object' } as const;
const definition = { name: 'payer' };

describe('an approval inside a subagent', () => {
  const shout = (calls: string[]): Tool =>
    tool({
      name: 'shout',
      description: 'Shouts.',
      inputSchema: schema,
      needsApproval: true,
      execute: (args) => (calls.push(JSON.stringify(args)), 'shouted'),
    });

  function nested(): {
    store: MemorySessionStore;
    calls: string[];
    runtime: (...scripts: ScriptedAnswer[][]) => SessionRuntime;
  } {
    const calls: string[] = [];
    const store = new MemorySessionStore();
    let processes = 100;
    return {
      store,
      calls,
      runtime(...scripts) {
        const [outer, middle, inner] = scripts.map((script) => scriptedDriver(...script));
        const clock = (): ManualClock => manualClock((processes += 13));
        const innerLoop = createAgentLoop({ driver: inner as never, tools: [shout(calls)], clock: clock() });
        const innermost = subagent({ name: 'inner', description: 'Inner.', loop: innerLoop });
        const middleLoop = createAgentLoop({ driver: middle as never, tools: [innermost], clock: clock() });
        const below = subagent({ name: 'middle', description: 'Middle.', loop: middleLoop });
        const loop = createAgentLoop({ driver: outer as never, tools: [below], clock: clock() });
        return new SessionRuntime({ store, agents: { payer: loop } });
      },
    };
  }

  const ask = (name: string): ScriptedAnswer => ({ calls: [[name, { prompt: 'Do it.' }]] });

  test('suspends the whole run, is decided by id in another process, and resumes the subagent', async () => {
    const { store, calls, runtime } = nested();
    const first = runtime([ask('middle')], [ask('inner')], [{ calls: [['shout', { loud: 1 }]] }]);
    const { sessionId } = await first.create({ definition });
    const waiting = await first.execute(sessionId, sendMessage('Go.'));
    expect([waiting.state.status, waiting.info.waitingFor, calls]).toEqual(['suspended', 'approval', []]);
    const [asked] = pendingApprovals((await store.load(sessionId))?.state as never);
    expect(asked?.name).toBe('shout');
    const done = await runtime(['Outer.'], ['Middle.'], ['Inner.']).execute(
      sessionId,
      approve(asked?.id as string, { input: { loud: 2 } }),
    );
    expect([done.state.finalResponse, calls]).toEqual(['Outer.', ['{"loud":2}']]);
    expect(done.state.steps[0]?.toolExecutions[0]).toMatchObject({ value: 'Middle.', attempt: 2 });
  });

  test('ends by a stop request while it waits', async () => {
    const { calls, runtime } = nested();
    const first = runtime([ask('middle')], [ask('inner')], [{ calls: [['shout', {}]] }]);
    const { sessionId } = await first.create({ definition });
    await first.execute(sessionId, sendMessage('Go.'));
    await first.enqueue(sessionId, { type: 'stop' });
    expect(await first.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    const { state } = await first.get(sessionId);
    expect([state.status, state.steps[0]?.toolExecutions[0]?.outcome?.type, calls]).toEqual([
      'stopped',
      'interrupted',
      [],
    ]);
  });
});

describe('a waiting execution', () => {
  const asked = metadataKey<boolean>('asked');
  const suspendOnce = (waiting: () => Waiting): Hook => ({
    name: 'suspend',
    afterStep: (state, { clock }) =>
      state.metadata.get(asked)
        ? undefined
        : state.withMetadata(asked, true).withExecutionStatus('suspended', clock.now(), [waiting()]),
  });

  function waiter(waiting: () => Waiting): {
    store: MemorySessionStore;
    clock: ManualClock;
    runtime: SessionRuntime;
  } {
    const clock = manualClock(1_000);
    const store = new MemorySessionStore({ clock });
    const script: ScriptedAnswer[] = [{ calls: [['note', {}]] }, 'Done.'];
    const tools = [tool({ name: 'note', description: 'Notes.', inputSchema: schema, execute: () => 1 })];
    const hooks = [suspendOnce(waiting)];
    const loop = createAgentLoop({ driver: scriptedDriver(...script), tools, hooks, clock });
    const child = createAgentLoop({ driver: scriptedDriver('Child.'), clock });
    return { store, clock, runtime: new SessionRuntime({ store, agents: { payer: loop, child }, clock }) };
  }

  test('for an instant is woken then by the engine', async () => {
    const { store, clock, runtime } = waiter(() => ({ type: 'until', until: 61_000 }));
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    const engine = new InProcessEngine({ clock });
    const [asleep, done] = [deferred<undefined>(), deferred<undefined>()];
    const served = await engine.serve(async (id, options) => {
      const advanced = await runtime.advance(id, options);
      const { type } = advanced.outcome;
      setImmediate(() => (type === 'sleep' ? asleep : done).resolve(undefined));
      return advanced;
    });
    await engine.wake(sessionId);
    await asleep.promise;
    expect((await store.due()).sessions).toEqual([]);
    clock.advance(59_999);
    expect((await runtime.get(sessionId)).state.status).toBe('suspended');
    clock.advance(1);
    await done.promise;
    await served.stop();
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Done.');
  });

  test('for a child is woken by the end of the child', async () => {
    const { runtime } = waiter(() => ({ type: 'child', sessionId: SessionId.parse('kid') }));
    const { sessionId } = await runtime.create({ definition });
    const kid = { definition: { name: 'child' }, sessionId: 'kid', parentId: sessionId };
    await runtime.create(kid);
    await runtime.enqueue('kid', { type: 'message', content: 'Go.' });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'suspended' } });
    expect((await runtime.list({ waitingFor: 'child' })).sessions).toHaveLength(1);
    await runtime.enqueue('kid', { type: 'message', content: 'Go on.' });
    expect(await runtime.advance('kid')).toMatchObject({ outcome: { type: 'finished' }, wake: [sessionId] });
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Done.');
  });

  test('for a child of another owner lasts until the child ends', async () => {
    const { runtime } = waiter(() => ({ type: 'child', sessionId: SessionId.parse('kid') }));
    const { sessionId } = await runtime.create({ definition, owner: 'ada' });
    await runtime.create({
      definition: { name: 'child' },
      sessionId: 'kid',
      parentId: sessionId,
      owner: 'bob',
    });
    const waiting = await runtime.for('ada').execute(sessionId, sendMessage('Go.'));
    expect(waiting.state.status).toBe('suspended');
    await runtime.for('bob').execute('kid', sendMessage('Go.'));
    await runtime.for('ada').advance(sessionId);
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Done.');
    const { inbox } = await runtime.for('ada').inspect(sessionId);
    expect(inbox.inbox).toEqual([]);
  });

  test('for a child of another owner ends with its notice, not at the next look', async () => {
    const { runtime, store } = waiter(() => ({ type: 'child', sessionId: SessionId.parse('kid') }));
    const { sessionId } = await runtime.create({ definition, owner: 'ada' });
    const kid = { definition: { name: 'child' }, sessionId: 'kid', parentId: sessionId, owner: 'bob' };
    await runtime.create(kid);
    await runtime.for('ada').execute(sessionId, sendMessage('Go.'));
    await runtime.for('bob').execute('kid', sendMessage('Go.'));
    expect((await store.due()).sessions).toMatchObject([{ sessionId }]);
  });

  /** A parent that waits for a child, and the child with its message. */
  async function family() {
    const made = waiter(() => ({ type: 'child', sessionId: SessionId.parse('kid') }));
    const { sessionId } = await made.runtime.create({ definition });
    await made.runtime.create({ definition: { name: 'child' }, sessionId: 'kid', parentId: sessionId });
    const parentStarts = () => made.runtime.execute(sessionId, sendMessage('Go.'));
    const childAnswers = () => made.runtime.execute('kid', sendMessage('Go.'));
    const due = async () => (await made.store.due()).sessions.map((session) => session.sessionId);
    return { ...made, sessionId, parentStarts, childAnswers, due };
  }

  test('for a child is due when the child has ended, whichever process ended it', async () => {
    const { runtime, sessionId, parentStarts, childAnswers, due } = await family();
    expect((await parentStarts()).state.status).toBe('suspended');
    expect(await due()).toEqual([]);
    await childAnswers();
    expect(await due()).toEqual([sessionId]);
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Done.');
    expect(await due()).toEqual([]);
  });

  test('for a child that has already ended does not wait', async () => {
    const { sessionId, runtime, parentStarts, childAnswers } = await family();
    await childAnswers();
    await parentStarts();
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Done.');
  });

  test('for a child whose notice was not enqueued: the child stays due', async () => {
    const { store, clock, sessionId, runtime, parentStarts, childAnswers, due } = await family();
    await parentStarts();
    const enqueue = store.enqueue.bind(store);
    store.enqueue = () => Promise.reject(new StoreUnavailableError('down', { isAmbiguous: true }));
    await expect(childAnswers()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    store.enqueue = enqueue;
    clock.advance(31_000);
    expect(await due()).toEqual(['kid']);
    await runtime.advance('kid');
    expect(await due()).toEqual([sessionId]);
  });

  test('for a deleted child resumes at its next advance', async () => {
    const { runtime, sessionId, parentStarts } = await family();
    await parentStarts();
    await runtime.delete('kid');
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
  });
});

test('a message that is sent again with its id is added once and gets one response', async () => {
  const loop = createAgentLoop({ driver: scriptedDriver('One.', 'Never.') });
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: { payer: loop } });
  const { sessionId } = await runtime.create({ definition });
  const first = await runtime.execute(sessionId, sendMessage('Go.', { id: 'm1' }));
  const again = await runtime.execute(sessionId, sendMessage('Go.', { id: 'm1' }));
  expect([again.state.messages.length, again.version]).toEqual([2, first.version]);
  await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' }, { id: 'm1' });
  expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
  expect((await runtime.get(sessionId)).state.messages).toHaveLength(2);
});
