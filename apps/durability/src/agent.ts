import { setTimeout as pause } from 'node:timers/promises';
import { createAgentLoop, textOf, tool } from '@holdfast/core';
import type { AgentLoop, Tool, ToolContext } from '@holdfast/core';
import type { Driver, InferenceResponseInit } from '@holdfast/core/driver';
import type { Faults } from './faults.ts';
import type { Journal } from './journal.ts';

/** The kinds of tools: by their effect, or by their further members. */
export const KINDS = ['readOnly', 'idempotent', 'once', 'ask', 'reconcile', 'approval'] as const;

export type Kind = (typeof KINDS)[number];

/** The plan of the model, in the first message: the number of steps, and of calls of a tool in each step. */
export interface Plan {
  readonly sessionId: string;
  readonly kind: Kind;
  readonly steps: number;
  readonly calls: number;
}

/** The parts of the agent. */
export interface AgentParts {
  readonly journal: Journal;
  readonly faults: Faults;
  /** Milliseconds that the model takes, and a tool before and after its effect. */
  readonly pace: number;
  readonly epochOf: (sessionId: string) => number;
  /** The instant of the last check that a tool may be called. */
  readonly checkedAt: () => number;
}

/** An agent whose answers follow from the messages alone, in any process. */
export function payer(parts: AgentParts): AgentLoop {
  return createAgentLoop({ driver: planDriver(parts), tools: KINDS.map((kind) => payTool(kind, parts)) });
}

function planDriver({ journal, faults, pace, epochOf }: AgentParts): Driver {
  return {
    async infer({ messages }): Promise<InferenceResponseInit> {
      const all = messages.toArray();
      const [first = '', ...heard] = all.filter(({ role }) => role === 'user').map(textOf);
      const { sessionId, kind, steps, calls } = JSON.parse(first) as Plan;
      journal.write({ type: 'inferring', sessionId, epoch: epochOf(sessionId) });
      faults.reach('inference');
      if (pace > 0) await pause(pace);
      const step = all.filter(({ role }) => role === 'tool').length + 1;
      const usage = { inputTokens: 10 * all.length, outputTokens: 5 };
      // Later executions do not see the calls of earlier ones, but the answer.
      const isAnswered = all.some((message) => message.role === 'assistant' && textOf(message) !== '');
      if (isAnswered || step > steps) return { text: ['Done.', ...heard].join(' '), usage };
      const content = Array.from({ length: calls }, (_, index) => ({
        type: 'tool-call' as const,
        toolCallId: `${step}.${index + 1}`,
        toolName: kind,
        input: { sessionId, amount: 10 * step + index + 1 },
      }));
      return { content, usage };
    },
  };
}

interface Payment {
  readonly sessionId: string;
  readonly amount: number;
}

function payTool(kind: Kind, parts: AgentParts): Tool {
  const { journal } = parts;
  return tool<Payment>({
    name: kind,
    description: 'Pays an amount.',
    inputSchema: { type: 'object' },
    effect: kind === 'reconcile' || kind === 'approval' ? 'once' : kind,
    execute: (payment, context) => pay(kind, payment, context, parts),
    ...(kind === 'approval' && { needsApproval: true }),
    ...(kind === 'reconcile' && {
      reconcile: (key: string, { toolCallId }: ToolContext) => {
        const isDone = journal.read().some((entry) => entry.type === 'done' && entry.key === key);
        return isDone ? { status: 'done', value: { paid: toolCallId } } : { status: 'notDone' };
      },
    }),
  });
}

async function pay(
  tool: Kind,
  { sessionId }: Payment,
  { toolCallId: call, idempotencyKey: key }: ToolContext,
  { journal, faults, pace, epochOf, checkedAt }: AgentParts,
): Promise<unknown> {
  const what = { sessionId, epoch: epochOf(sessionId), call, tool, key };
  journal.write({ type: 'called', ...what, checkedAt: checkedAt() });
  if (pace > 0) await pause(pace);
  faults.reach('before-effect');
  journal.write({ type: 'done', ...what });
  faults.reach('after-effect');
  if (pace > 0) await pause(pace);
  return { paid: call };
}
