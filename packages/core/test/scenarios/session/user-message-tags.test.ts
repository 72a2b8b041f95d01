import {
  AgentSession,
  sendMessage,
  subagent,
  createAgentLoop,
  textOf,
  userMessage,
  type AgentState,
  type Message,
} from '@holdfast/core';
import { executionIdOf, isTrace } from '@holdfast/core/engine';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred, does, expectSound } from '../../support/builders.ts';
import { call, definition, settled, world } from '../../support/durable-world.ts';

const users = ({ messages }: AgentState): readonly Message[] =>
  messages.toArray().filter(({ role }) => role === 'user');

describe('a user message of a session', () => {
  test('has the tag of the execution that responds to it, and is no trace', async () => {
    const [reached, gate] = [deferred(), deferred<string>()];
    const made = world({ act: () => (reached.resolve(), gate.promise) });
    const runtime = made.process([call(1), 'Both.', 'Third.']);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('One.', { metadata: { page: 1 } }));
    await reached.promise;
    await runtime.enqueue(sessionId, { type: 'message', content: 'Two.', metadata: { page: 2 } });
    made.clock.advance(10_000);
    await settled();
    gate.resolve('paid');
    const first = (await running).state.executionId;
    const { state } = await runtime.execute(sessionId, sendMessage('Three.'));
    const tagged = users(expectSound(state)).map((message) => [textOf(message), message.metadata]);
    expect(tagged).toEqual([
      ['One.', { page: 1, execution_id: first }],
      ['Two.', { page: 2, execution_id: first }],
      ['Three.', { execution_id: state.executionId }],
    ]);
    expect(users(state).map(isTrace)).toEqual([false, false, false]);
    expect(state.messages.toArray().map(executionIdOf)).toEqual([
      ...Array.from({ length: 5 }, () => first),
      state.executionId,
      state.executionId,
    ]);
  });

  test('that is added while a step is open has the tag of the step', async () => {
    const made = world({ needsApproval: true });
    const runtime = made.process([call(1), 'Done.']);
    const { sessionId } = await runtime.create({ definition });
    const { state: waiting } = await runtime.execute(sessionId, sendMessage('One.'));
    const { state } = await runtime.execute(sessionId, sendMessage('Two.'));
    const { executionId, currentStep } = waiting;
    expect(users(expectSound(state)).map(({ metadata }) => metadata)).toEqual([
      { execution_id: executionId },
      { execution_id: executionId, step_id: currentStep?.id },
    ]);
  });

  test('changes nothing in what a model sees: the messages, without finished tool work', async () => {
    const made = world();
    const driver = scriptedDriver(call(1), 'Paid.', call(2), 'Paid again.');
    const loop = createAgentLoop({ driver, clock: made.clock, tools: [does('pay')] });
    const runtime = made.process([], { agents: { payer: loop } });
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('One.'));
    await runtime.execute(sessionId, sendMessage('Two.'));
    const seen = driver.requests.map(({ messages }) =>
      messages
        .toArray()
        .map(({ role }) => role[0])
        .join(''),
    );
    expect(seen).toEqual(['u', 'uat', 'uau', 'uauat']);
  });

  test('costs at most 70 bytes more in a save', async () => {
    const made = world();
    const runtime = made.process(['Hi.']);
    const { sessionId } = await runtime.create({ definition });
    const { state } = await runtime.execute(sessionId, sendMessage('Hello.'));
    const [message] = users(state);
    const { metadata, ...untagged } = message as Message;
    expect(metadata).toBeDefined();
    const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
    expect(bytes(message) - bytes(untagged)).toBeLessThanOrEqual(70);
  });

  test('without the tag, as an earlier release stored it, is read as it is', async () => {
    const made = world();
    const runtime = made.process(['Hi.', 'Again.']);
    const { sessionId } = await runtime.create({ definition });
    const session = await runtime.execute(sessionId, sendMessage('Hello.'));
    const document = JSON.parse(JSON.stringify(session)) as {
      state: { context: { sections: [{ messages: [{ metadata?: object }] }] } };
    };
    delete document.state.context.sections[0].messages[0].metadata;
    const old = AgentSession.fromJSON(document);
    expect(users(old.state).map(({ metadata }) => metadata)).toEqual([undefined]);
    await made.store.delete(sessionId);
    await made.store.create(AgentSession.create({ definition, sessionId, state: old.state, at: 1 }));
    const next = await runtime.execute(sessionId, sendMessage('And?'));
    expect(users(next.state).map(executionIdOf)).toEqual([undefined, next.state.executionId]);
  });

  test('keeps the tag in a fork, whose next message has the tag of its own execution', async () => {
    const made = world();
    const runtime = made.process(['Hi.', 'Forked.']);
    const { sessionId } = await runtime.create({ definition });
    const { state } = await runtime.execute(sessionId, sendMessage('Hello.'));
    const fork = await runtime.fork(sessionId);
    const next = await runtime.execute(fork.sessionId, sendMessage('And?'));
    expect(users(next.state).map(executionIdOf)).toEqual([state.executionId, next.state.executionId]);
    expect(next.state.finalResponse).toBe('Forked.');
  });

  test('cannot be sent with a tag', async () => {
    const runtime = world().process([]);
    const { sessionId } = await runtime.create({ definition });
    const action = sendMessage('Hello.', { metadata: { execution_id: 'x' } });
    await expect(runtime.execute(sessionId, action)).rejects.toMatchObject({ code: 'CONTEXT_INVALID' });
  });
});

test('the task of a subagent and a message that the application adds have no tag', async () => {
  const made = world();
  const inner = scriptedDriver('Found.');
  const loop = createAgentLoop({ driver: inner, clock: made.clock });
  const find = subagent({ name: 'find', description: 'Finds.', loop });
  const runtime = made.process([{ calls: { find: { prompt: 'Find.' } } }, 'Done.'], {}, { tools: [find] });
  const { sessionId } = await runtime.create({ definition });
  const session = await runtime.execute(sessionId, (before, context) =>
    context.run(before.withState(before.state.withMessages([userMessage('Go.')]))),
  );
  expect(session.state.finalResponse).toBe('Done.');
  const all = [...users(session.state), ...(inner.requests[0]?.messages ?? [])];
  expect(all.map(({ metadata }) => metadata)).toEqual([undefined, undefined]);
});
