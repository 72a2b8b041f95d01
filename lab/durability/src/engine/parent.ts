import {
  createAgentLoop,
  hasErrorCode,
  textOf,
  tool,
  type AgentLoop,
  type Hook,
  type SessionRuntime,
} from '@holdfast/core';
import type { Driver, InferenceResponseInit } from '@holdfast/core/driver';
import type { Plan } from '../agent.ts';

/** The plan of a parent, in its first message: the plans of its children. */
export interface ParentPlan {
  readonly sessionId: string;
  readonly children: readonly Plan[];
}

/** The runtime and the engine with which a parent begins its children. */
export interface ParentParts {
  readonly runtime: () => SessionRuntime;
  readonly wake: (sessionId: string) => Promise<void>;
}

/** An agent that begins child sessions in one step, waits for them, and then responds. */
export function parent(parts: ParentParts): AgentLoop {
  const begin = tool<{ readonly parentId: string; readonly plan: string }>({
    name: 'begin',
    description: 'Begins a child session.',
    inputSchema: { type: 'object' },
    effect: 'idempotent',
    execute: async ({ parentId, plan }) => beginChild(plan, parentId, parts),
  });
  return createAgentLoop({ driver: parentDriver, tools: [begin], hooks: [waitForChildren(parts)] });
}

async function beginChild(plan: string, parentId: string, { runtime, wake }: ParentParts): Promise<string> {
  const { sessionId } = JSON.parse(plan) as Plan;
  await runtime()
    .create({ definition: { name: 'payer' }, sessionId, parentId })
    .catch((error: unknown) => {
      if (!hasErrorCode(error, 'SESSION_CONFLICT')) throw error; // an earlier attempt has created it
    });
  await runtime().enqueue(sessionId, { type: 'message', content: plan }, { id: 'plan' });
  await wake(sessionId);
  return sessionId;
}

function waitForChildren({ runtime }: ParentParts): Hook {
  return {
    async afterStep(state, { clock }) {
      const calls = (state.currentStep?.toolExecutions ?? []).filter(({ name }) => name === 'begin');
      const children = await Promise.all(calls.map(({ value }) => runtime().get(value as string)));
      const waiting = children
        .filter((child) => child.state.execution?.isTerminal !== true)
        .map(({ sessionId }) => ({ type: 'child', sessionId }) as const);
      return waiting.length === 0 ? undefined : state.withExecutionStatus('suspended', clock.now(), waiting);
    },
  };
}

const parentDriver: Driver = {
  async infer({ messages }): Promise<InferenceResponseInit> {
    const [first, ...others] = messages.toArray();
    const { sessionId: parentId, children } = JSON.parse(first ? textOf(first) : '') as ParentPlan;
    if (others.some(({ role }) => role === 'tool')) return { text: 'Done.' };
    const content = children.map((plan) => ({
      type: 'tool-call' as const,
      toolCallId: plan.sessionId,
      toolName: 'begin',
      input: { parentId, plan: JSON.stringify(plan) },
    }));
    return { content };
  },
};
