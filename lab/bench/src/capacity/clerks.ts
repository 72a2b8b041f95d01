import { createAgentLoop, tool, type AgentLoop } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { z } from 'zod';

/** `waiting` waits for an approval, without a limit. `asleep` does so for a day, and `napping` for some seconds. */
export type ClerkName = 'waiting' | 'asleep' | 'napping';

const DAY_SECONDS = 86_400;
const NAP_SECONDS = 20;

const LIMITS: Readonly<Record<ClerkName, number | undefined>> = {
  waiting: undefined,
  asleep: DAY_SECONDS,
  napping: NAP_SECONDS,
};

/** Requests one payment, and answers after its result. */
const driver: Driver = {
  async infer({ messages }) {
    if (messages.last?.role === 'tool') return { text: 'done' };
    return { content: [{ type: 'tool-call', toolCallId: 'call', toolName: 'pay', input: { euros: 40 } }] };
  },
};

/** The agents whose sessions are suspended. */
export function clerks(): Readonly<Record<ClerkName, AgentLoop>> {
  const clerk = (name: ClerkName): AgentLoop => {
    const seconds = LIMITS[name];
    const pay = tool({
      name: 'pay',
      description: 'Pays an invoice.',
      inputSchema: z.object({ euros: z.number() }),
      needsApproval: true,
      ...(seconds !== undefined && { approvalTimeoutSeconds: seconds }),
      execute: ({ euros }) => `${euros} euros are paid.`,
    });
    return createAgentLoop({ driver, tools: [pay] });
  };
  return { waiting: clerk('waiting'), asleep: clerk('asleep'), napping: clerk('napping') };
}
