import {
  answer,
  approve,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  pendingQuestions,
  resume,
  sendMessage,
  SessionRuntime,
  subagent,
  tool,
  type AgentLoop,
} from '@holdfast/core';
import { withDecision } from '@holdfast/core/engine';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectSound, told } from '../../support/builders.ts';

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({ euros: z.number().transform(Math.round) }),
  jsonSchema: {},
  needsApproval: true,
  approvalTimeoutSeconds: 60,
  execute: ({ euros }) => euros,
});

/** An agent that pays, under so many agents. */
function payer(depth: number, clock = manualClock(1_000_000)): AgentLoop {
  if (depth === 0) {
    const driver = scriptedDriver({ calls: { pay: { euros: 5 } } }, 'Paid.');
    return createAgentLoop({ clock, driver, tools: [pay] });
  }
  const driver = scriptedDriver({ calls: { agent: { prompt: 'Pay.' } } }, 'Paid.');
  const agent = subagent({ name: 'agent', description: 'Pays.', loop: payer(depth - 1, clock) });
  return createAgentLoop({ clock, driver, tools: [agent] });
}

describe('a check without an end', () => {
  /** A call that waits, and whose schema does not reply any more. */
  async function waiting(options: object) {
    let isReady = true;
    const validate = (value: unknown) => (isReady ? { value } : new Promise(() => {}));
    const schema = { '~standard': { version: 1, vendor: 'mine', validate } };
    const isQuestion = !('execute' in options);
    const named = { name: 'pay', description: 'Pays.', inputSchema: schema, jsonSchema: {} };
    const made = tool({ ...named, ...options, ...(isQuestion && { outputSchema: schema }) } as never);
    const clock = manualClock(1_000_000);
    const driver = scriptedDriver({ calls: { pay: { euros: 5 } } }, 'Done.');
    const agents = { clerk: createAgentLoop({ clock, driver, tools: [made] }) };
    const runtime = new SessionRuntime({ store: new MemorySessionStore({ clock }), clock, agents });
    const { sessionId } = await runtime.create({ definition: { name: 'clerk' } });
    const { state } = await runtime.execute(sessionId, sendMessage('Pay.'));
    isReady = false;
    const [call = ''] = [...pendingApprovals(state), ...pendingQuestions(state)];
    return { runtime, sessionId, clock, call };
  }

  const execute = (): string => 'paid';
  test.each([
    ['an edit', { execute, needsApproval: true, timeoutSeconds: 5 }, 5],
    ['an edit without a timeout', { execute, needsApproval: true }, 60],
    ['an answer', {}, 60],
  ])('of %s ends in time, and the call still waits', async (_, options, seconds) => {
    const { runtime, sessionId, clock, call } = await waiting(options);
    const isEdit = 'needsApproval' in options;
    const action = isEdit ? approve(call, { input: { euros: 4 } }) : answer(call, 'Yes.');
    const errors: unknown[] = [];
    const start = clock.now();
    void runtime.execute(sessionId, action).catch((error: unknown) => errors.push(error));
    while (errors.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
      if (clock.now() > start + 120_000) throw new Error('The check has no end.');
    }
    expect(errors).toMatchObject([{ code: 'TOOL_TIMEOUT' }]);
    expect(clock.now() - start).toBeGreaterThanOrEqual(seconds * 1_000);
    const { state, info } = await runtime.execute(sessionId, resume());
    expect([state.status, info.waitingFor]).toEqual(['suspended', isEdit ? 'approval' : 'answer']);
  });
});

describe('a decision whose arguments the schema changes', () => {
  test.each([0, 1, 2])('begins the approval timeout again, under %i agents', async (depth) => {
    const loop = payer(depth);
    const waiting = await loop.run(told());
    const [call] = pendingApprovals(waiting);
    const toolExecutionId = call?.id ?? '';
    const decision = { toolExecutionId, decision: 'approved', input: { euros: 7.6 } } as const;
    const again = expectSound(await withDecision(waiting, decision, loop.tools, 1_059_000));
    const shown = pendingApprovals(again)[0];
    expect([again.status, shown?.args, shown?.approval?.requestedAt]).toEqual([
      'suspended',
      { euros: 8 },
      1_059_000,
    ]);
    expect(again.execution?.waiting).toEqual([
      { type: 'approval', toolExecutionId },
      { type: 'until', until: 1_119_000, toolExecutionId },
    ]);
    const late = { toolExecutionId, decision: 'approved', requestedAt: 1_059_000 } as const;
    const approved = await withDecision(again, late, loop.tools, 1_118_000);
    expect([approved.status, approved.execution?.waiting]).toEqual(['inProgress', []]);
  });
});
