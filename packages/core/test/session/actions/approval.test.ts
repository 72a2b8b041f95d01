import { createAgentLoop, pendingApprovals, subagent, tool } from '@holdfast/core';
import type { AgentLoop } from '@holdfast/core';
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
