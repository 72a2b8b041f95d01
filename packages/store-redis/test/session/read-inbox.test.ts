import {
  createAgentLoop,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  tool,
  type SessionEvent,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { RedisSessionStore } from '@holdfast/store-redis';
import { beforeEach, expect, test } from 'vitest';
import { newPrefix, testServer } from '../support/harness.ts';

const redis = testServer();
let events: SessionEvent[];
let prefix: string;
let store: RedisSessionStore;
let runtime: SessionRuntime;

beforeEach(() => {
  events = [];
  prefix = newPrefix();
  store = new RedisSessionStore({ client: redis.client, prefix, maxValueBytes: 20_000 });
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => 'paid',
  });
  const loop = createAgentLoop({ driver: scriptedDriver({ calls: { pay: {} } }, 'Paid.'), tools: [pay] });
  const onSessionEvent = (event: SessionEvent): void => void events.push(event);
  runtime = new SessionRuntime({ store, agents: { payer: loop }, onSessionEvent });
});

const ignored = (): unknown[] =>
  events.flatMap((event) => (event.type === 'inbox-item-ignored' ? [event.item.id] : []));

test('a decision that makes its step too large is ignored, and the next decision counts', async () => {
  const { sessionId } = await runtime.create({ definition: { name: 'payer' } });
  const { state } = await runtime.execute(sessionId, sendMessage('Pay.'));
  const decision = { type: 'decision', toolExecutionId: pendingApprovals(state)[0]?.id ?? '' } as const;
  const input = { to: 'x'.repeat(19_500) };
  await runtime.enqueue(sessionId, { ...decision, decision: 'approved', input }, { id: 'large' });
  await runtime.enqueue(sessionId, { ...decision, decision: 'approved' }, { id: 'small' });
  await expect(runtime.advance(sessionId)).resolves.toMatchObject({ outcome: { type: 'yield' } });
  await expect(runtime.advance(sessionId)).resolves.toMatchObject({ outcome: { type: 'finished' } });
  expect((await runtime.get(sessionId)).state.finalResponse).toBe('Paid.');
  expect(ignored()).toEqual(['small', 'large']); // before the large decision was ignored, the small decision was the second on its call
  await expect(store.due()).resolves.toMatchObject({ sessions: [] });
});

test('a message that another store accepted and this store cannot save is ignored, and the other messages are used', async () => {
  const { sessionId } = await runtime.create({ definition: { name: 'payer' } });
  const roomy = new RedisSessionStore({ client: redis.client, prefix, maxValueBytes: 30_000 });
  const content = 'x'.repeat(20_000);
  await runtime.enqueue(sessionId, { type: 'message', content: 'Pay.' }, { id: 'small' });
  await roomy.enqueue(sessionId, { id: 'large', content: { type: 'message', content } });
  await expect(runtime.advance(sessionId)).resolves.toMatchObject({ outcome: { type: 'yield' } });
  await expect(runtime.advance(sessionId)).resolves.toMatchObject({ outcome: { type: 'suspended' } });
  const [first] = (await runtime.get(sessionId)).state.messages.toArray();
  expect([first?.id, ignored()]).toEqual(['small', ['large']]);
});
