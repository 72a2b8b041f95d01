import { createAgentLoop, InProcessEngine, MemorySessionStore, SessionRuntime, tool } from '@holdfast/core';
import { DriverError, type Driver } from '@holdfast/core/driver';
import { manualClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { settled } from '../../support/durable-world.ts';

const SESSIONS = 100;
const STEPS = 4;
const OUTAGE = { from: 3_000, until: 603_000 };

test('a provider that is down for ten minutes ends no session, and no tool runs twice', async () => {
  const clock = manualClock(0);
  const store = new MemorySessionStore({ clock });
  const payments: string[] = [];
  let refused = 0;
  const driver: Driver = {
    async infer({ messages }) {
      const now = clock.now();
      if (now >= OUTAGE.from && now < OUTAGE.until) {
        refused++;
        throw new DriverError('overloaded', 'The provider is down.');
      }
      const steps = [...messages].filter(({ role }) => role === 'tool').length;
      if (steps === STEPS) return { text: 'Done.' };
      return {
        content: [{ type: 'tool-call', toolCallId: `call ${steps}`, toolName: 'pay', input: {} }],
        usage: { inputTokens: 1, outputTokens: 1 },
      };
    },
  };
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    execute(_, { idempotencyKey }) {
      payments.push(idempotencyKey);
      return 'paid';
    },
  });
  const loop = createAgentLoop({ driver, tools: [pay], clock });
  const runtime = new SessionRuntime({ store, clock, agents: { payer: loop }, leaseSeconds: 10_000 });
  const engine = new InProcessEngine({ clock });
  const ids = Array.from({ length: SESSIONS }, (_, index) => `s${index}`);
  const served = await engine.serve((id, options) => runtime.advance(id, { ...options, maxSteps: 1 }), {
    concurrency: 4,
    onError: (error) => expect.fail(String(error)),
  });
  for (const sessionId of ids) {
    await runtime.create({ definition: { name: 'payer' }, sessionId });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Pay.' });
    // The sessions start while the outage comes nearer: it meets some before, some amid and some after their work.
    await engine.wake(sessionId, { at: clock.now() + 1 + Number(sessionId.slice(1)) * 60 });
  }
  const completed = async () =>
    (await store.list({ executionStatus: 'completed', limit: 100 })).sessions.length;
  for (let seconds = 0; seconds < 4_000 && (await completed()) < SESSIONS; seconds++) {
    await settled();
    clock.advance(1_000);
  }
  await settled();
  await served.stop();
  expect(await completed()).toBe(SESSIONS);
  expect(refused).toBeGreaterThan(SESSIONS / 4);
  expect(payments).toHaveLength(SESSIONS * STEPS);
  expect(new Set(payments).size).toBe(SESSIONS * STEPS);
});
