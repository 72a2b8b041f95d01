import { createAgentLoop, MemorySessionStore, sendMessage, SessionRuntime } from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { never } from '../../support/builders.ts';

const definition = { name: 'helper' };

function world(...answers: string[]) {
  const store = new MemorySessionStore();
  const agents = { helper: createAgentLoop({ driver: scriptedDriver(...answers) }) };
  const channel = new MemorySessionChannel();
  return { store, channel, runtime: new SessionRuntime({ store, agents, channel }) };
}

test('a session of an owner cannot have the session of another owner as its parent, which it would wake', async () => {
  const { store, runtime } = world('Done.');
  await runtime.for('bob').create({ definition, sessionId: 'parent' });
  const child = { definition, sessionId: 'child', parentId: 'parent' };
  await expect(runtime.for('ann').create(child)).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    data: { sessionId: 'parent' },
  });
  expect(await store.exists('child')).toBe(false);
  expect((await runtime.for('bob').create(child)).parentId).toBe('parent');
});

test('a child whose parent cannot be notified by the channel releases its claim', async () => {
  const { store, channel, runtime } = world('Done.');
  await runtime.create({ definition, sessionId: 'parent' });
  await runtime.create({ definition, sessionId: 'child', parentId: 'parent' });
  channel.notify = () => never;
  await runtime.execute('child', sendMessage('Go'));
  const { claim } = await store.inspect('child');
  expect([claim, (await store.inspect('parent')).waitingItems]).toEqual([undefined, 1]);
});

test('a creation under the id of another owner does not tell the version of its session', async () => {
  const { runtime } = world('One.');
  await runtime.for('bob').create({ definition, sessionId: 'taken' });
  await runtime.for('bob').execute('taken', sendMessage('Go'));
  const creation = runtime.for('ann').create({ definition, sessionId: 'taken' });
  await expect(creation).rejects.toMatchObject({ kind: 'exists', expected: 0, actual: 1 });
});
