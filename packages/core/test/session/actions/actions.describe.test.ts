import {
  createAgentLoop,
  describe as describeSession,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';

const definition = { name: 'helper' };

function runtimeWith(...script: string[]): SessionRuntime {
  const agents = { helper: createAgentLoop({ driver: scriptedDriver(...script) }) };
  return new SessionRuntime({ store: new MemorySessionStore(), agents });
}

test('changes the title, the labels or both, and lists show them at once', async () => {
  const runtime = runtimeWith();
  const { sessionId } = await runtime.create({ definition, title: 'First', labels: { channel: 'mail' } });
  const shown = async (): Promise<unknown[]> =>
    (await runtime.list()).sessions.map(({ title, labels }) => [title, labels]);
  await runtime.execute(sessionId, describeSession({ title: 'Second' }));
  expect(await shown()).toEqual([['Second', { channel: 'mail' }]]);
  await runtime.execute(sessionId, describeSession({ labels: { channel: 'chat', team: 'sales' } }));
  expect(await shown()).toEqual([['Second', { channel: 'chat', team: 'sales' }]]);
  const session = await runtime.execute(sessionId, describeSession({ title: undefined, labels: undefined }));
  expect(await shown()).toEqual([[undefined, undefined]]);
  expect([session.version, session.toJSON().version]).toEqual([4, 1]);
});

test('needs no claim, calls no model and makes no session due', async () => {
  const runtime = runtimeWith('Hello.');
  const { sessionId } = await runtime.create({ definition });
  const { state } = await runtime.execute(sessionId, sendMessage('Hello'));
  const described = await runtime.execute(sessionId, describeSession({ title: 'Greeting' }));
  expect(described.state).toEqual(state);
  expect(await runtime.inspect(sessionId)).toMatchObject({ dueAt: undefined, attempt: 0 });
});

test('is refused while a worker has claimed the session, and the owner never changes', async () => {
  const runtime = runtimeWith();
  const { sessionId } = await runtime.create({ definition, owner: 'ada' });
  const { claim } = await runtime.store.claim(sessionId, { workerId: 'w', leaseSeconds: 30 });
  const refused = runtime.execute(sessionId, describeSession({ title: 'Late' }));
  await expect(refused).rejects.toMatchObject({ code: 'SESSION_BUSY' });
  await runtime.store.release(claim);
  expect((await runtime.execute(sessionId, describeSession({ title: 'Late' }))).owner).toBe('ada');
  expect(() => describeSession({ owner: 'bo' } as never)).toThrow(/has no option "owner"/);
});
