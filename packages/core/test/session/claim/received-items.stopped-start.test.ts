import { createAgentLoop, agentDefinition, MemorySessionStore, SessionRuntime } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';

test('a message after a stop gets its own execution, also when the stopped one had not begun', async () => {
  const agents = { guide: createAgentLoop({ driver: scriptedDriver('Take the train.') }) };
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents });
  const { sessionId } = await runtime.create({ definition: agentDefinition({ name: 'guide' }) });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Pay!' });
  await runtime.enqueue(sessionId, { type: 'stop' });
  await runtime.enqueue(sessionId, { type: 'message', content: 'How do I get to Flåm?' });
  await runtime.advance(sessionId);
  const { state } = await runtime.get(sessionId);
  expect([state.status, state.finalResponse]).toEqual(['completed', 'Take the train.']);
  const { executions } = await runtime.executions(sessionId);
  expect(executions.map(({ status }) => status).toSorted()).toEqual(['completed', 'stopped']);
});
