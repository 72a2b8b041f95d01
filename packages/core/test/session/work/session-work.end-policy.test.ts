import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type SessionAction,
} from '@holdfast/core';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';

// With the save policy `end`, an action may run the agent on a session that it changed and that is not saved yet.

async function world(...answers: string[]) {
  const store = new MemorySessionStore({ clock: steppedClock() });
  const agents = { helper: createAgentLoop({ driver: scriptedDriver(...answers) }) };
  const runtime = new SessionRuntime({ store, agents, savePolicy: 'end' });
  const { sessionId } = await runtime.create({ definition: { name: 'helper' } });
  return { store, runtime, sessionId };
}

test('a title and labels that an action gives before the run are saved', async () => {
  const { store, runtime, sessionId } = await world('Hello.');
  const titled: SessionAction = (session, context) =>
    sendMessage('Hi')(
      session.withDescription({ title: 'First words', labels: { channel: 'mail' } }),
      context,
    );
  const session = await runtime.execute(sessionId, titled);
  expect([session.title, session.labels]).toEqual(['First words', { channel: 'mail' }]);
  expect((await store.load(sessionId))?.title).toBe('First words');
});

test('an execution that an action ends before the run is listed and counted', async () => {
  const { runtime, sessionId } = await world('First.', 'Second.');
  const first = await runtime.execute(sessionId, sendMessage('One'));
  const twice: SessionAction = (session, context) => {
    const at = context.clock.now();
    const other = session.state.forNextExecution(at).withUserMessage('skipped', {}, at);
    const skipped = session.withState(other.withExecutionStatus('inProgress', at));
    return sendMessage('Two')(skipped.withState(skipped.state.forNextExecution(at)), context);
  };
  const session = await runtime.execute(sessionId, twice);
  const { executions } = await runtime.executions(sessionId);
  expect([session.totals.executions, executions.length]).toEqual([3, 3]);
  expect(executions.at(-1)?.executionId).toBe(first.state.executionId);
});
