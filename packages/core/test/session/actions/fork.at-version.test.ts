import {
  approve,
  createAgentLoop,
  describe as describeSession,
  MemorySessionStore,
  pendingApprovals,
  resume,
  sendMessage,
  SessionRuntime,
  textOf,
  tool,
  type AgentSession,
} from '@holdfast/core';
import { scriptedDriver, steppedClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { call, expectSound, nextStart } from '../../support/builders.ts';

const definition = { name: 'helper' };
const texts = ({ state }: AgentSession): string[] =>
  state.messages.toArray().map((message) => `${message.role} ${textOf(message)}`.trim());

/** A store that keeps revisions, and processes with a tool that needs approval. */
function world(keptRevisions = 100) {
  const store = new MemorySessionStore({ keptRevisions });
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: (_, { idempotencyKey }) => paid.push(idempotencyKey),
  });
  const process = (...script: ScriptedAnswer[]): SessionRuntime => {
    const clock = steppedClock(nextStart());
    const loop = createAgentLoop({ driver: scriptedDriver(...script), tools: [pay], clock });
    return new SessionRuntime({ store, agents: { helper: loop }, clock: steppedClock(nextStart()) });
  };
  return { store, paid, process };
}

test('a fork at a version is the session as it was then, under new ids', async () => {
  const { store, process } = world();
  const runtime = process('One.', 'Two.', 'Other.');
  const { sessionId } = await runtime.create({ definition, title: 'First', owner: 'ada' });
  const one = await runtime.execute(sessionId, sendMessage('Hello'));
  await runtime.execute(sessionId, describeSession({ title: 'Second' }));
  const two = await runtime.execute(sessionId, sendMessage('Again'));
  const copy = await runtime.fork(sessionId, { atVersion: one.version });
  expect([texts(copy), copy.title, copy.owner, copy.forkedFrom]).toEqual([
    ['user Hello', 'assistant One.'],
    'First',
    'ada',
    sessionId,
  ]);
  expect([copy.version, copy.totals.executions]).toEqual([1, 0]);
  expectSound(copy.state);
  const ended = await runtime.execute(copy.sessionId, sendMessage('And?'));
  expect(texts(ended).slice(2)).toEqual(['user And?', 'assistant Other.']);
  expect(await runtime.get(sessionId)).toEqual(two);
  const whole = await runtime.fork(sessionId, { atVersion: two.version });
  expect([texts(whole), whole.title]).toEqual([texts(two), 'Second']);
  expect((await store.list({ owner: 'ada' })).sessions).toHaveLength(3);
});

test('a version and a step, or a message, are taken together', async () => {
  const { process } = world();
  const runtime = process('One.', 'Two.', 'Other.');
  const { sessionId } = await runtime.create({ definition });
  const one = await runtime.execute(sessionId, sendMessage('Hello', { id: 'm1' }));
  await runtime.execute(sessionId, sendMessage('Again', { id: 'm2' }));
  const atVersion = one.version;
  const atStep = await runtime.fork(sessionId, { atVersion, atStep: 0 });
  const atMessage = await runtime.fork(sessionId, { atVersion, atMessage: 'm1' });
  for (const copy of [atStep, atMessage])
    expect([texts(copy), copy.state.status]).toEqual([['user Hello'], 'pending']);
  expect(texts(await runtime.execute(atStep.sessionId, resume()))).toEqual([
    'user Hello',
    'assistant Other.',
  ]);
  await expect(runtime.fork(sessionId, { atVersion, atMessage: 'm2' })).rejects.toMatchObject({
    code: 'ARGUMENT_INVALID',
  });
});

test('a fork at a version in the middle of a run repeats no call of it', async () => {
  const { paid, process } = world();
  const runtime = process(call('pay'), 'Paid.', 'Anything else?');
  const { sessionId } = await runtime.create({ definition });
  const asked = await runtime.execute(sessionId, sendMessage('Pay.'));
  const [request] = pendingApprovals(asked.state);
  await runtime.execute(sessionId, approve(request?.id ?? ''));
  const copy = await runtime.fork(sessionId, { atVersion: asked.version });
  expect([copy.state.execution, pendingApprovals(copy.state)]).toEqual([undefined, []]);
  expect(texts(await runtime.execute(copy.sessionId, sendMessage('And now?'))).at(-1)).toBe(
    'assistant Anything else?',
  );
  expect(paid).toHaveLength(1);
});

test('a version that is not kept is refused with its code, and a missing session with another', async () => {
  const { process } = world(2);
  const runtime = process('One.', 'Two.');
  const { sessionId } = await runtime.create({ definition });
  const { version } = await runtime.execute(sessionId, sendMessage('Hello'));
  expect((await runtime.revisions(sessionId)).revisions.map((kept) => kept.version)).toEqual([
    version,
    version - 1,
  ]);
  for (const atVersion of [1, version + 1])
    await expect(runtime.fork(sessionId, { atVersion })).rejects.toMatchObject({
      code: 'REVISION_NOT_FOUND',
      data: { sessionId, version: atVersion },
    });
  await expect(runtime.fork('none', { atVersion: 1 })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  await expect(runtime.fork(sessionId, { atVersion: 0 })).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
});
