import {
  createAgentLoop,
  MemorySessionStore,
  SessionRuntime,
  subagent,
  tool,
  type AgentLoop,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { does } from '../../support/builders.ts';

const inputSchema = { type: 'object' };
const base = { description: 'Acts.', inputSchema, execute: () => 1 };

/** Returns the facts about the tools of an agent, from the inspection of its session. */
async function toolsOf(loop: AgentLoop | ((name: string) => AgentLoop)) {
  const store = new MemorySessionStore();
  const agents = typeof loop === 'function' ? () => loop('helper') : { helper: loop };
  const runtime = new SessionRuntime({ store, agents });
  const { sessionId } = await runtime.create({ definition: { name: 'helper' } });
  return (await runtime.inspect(sessionId)).tools;
}

const loopWith = (...tools: NonNullable<Parameters<typeof createAgentLoop>[0]['tools']>): AgentLoop =>
  createAgentLoop({ driver: scriptedDriver(), tools });

test('a tool without options acts once, in one attempt, and without approval', async () => {
  expect(await toolsOf(loopWith(does('act')))).toEqual([
    {
      name: 'act',
      description: 'act',
      effect: 'once',
      kind: 'execute',
      mayNeedApproval: false,
      canContinue: false,
      maxAttempts: 1,
    },
  ]);
});

test('the policies of a tool are shown, and its time limits in seconds', async () => {
  const limits = { approvalTimeoutSeconds: 60, timeoutSeconds: 5, retry: { maxAttempts: 3 } };
  const init = { name: 'pay', ...base, effect: 'idempotent', needsApproval: () => false, ...limits } as const;
  const tools = await toolsOf(loopWith({ ...tool(init), isResumable: true }));
  const [pay] = tools ?? [];
  expect(pay).toMatchObject({
    effect: 'idempotent',
    mayNeedApproval: true,
    canContinue: true,
    maxAttempts: 3,
  });
  expect([pay?.timeoutSeconds, pay?.approvalTimeoutSeconds, pay?.answerTimeoutSeconds]).toEqual([
    5,
    60,
    undefined,
  ]);
});

test.each(['readOnly', 'idempotent', 'ask', 'once'] as const)('the effect %s is shown', async (effect) => {
  const tools = await toolsOf(loopWith(tool({ name: 'act', ...base, effect })));
  expect(tools?.map((facts) => facts.effect)).toEqual([effect]);
});

test('a tool without execute waits for an answer, and a subagent is a tool', async () => {
  const ask = tool({ name: 'ask', description: 'Asks.', inputSchema, answerTimeoutSeconds: 9 });
  const expert = subagent({ name: 'expert', description: 'Knows more.', loop: loopWith() });
  const tools = await toolsOf(loopWith(ask, expert));
  expect(tools).toMatchObject([
    { name: 'ask', kind: 'answer', answerTimeoutSeconds: 9 },
    { name: 'expert', kind: 'execute', canContinue: true },
  ]);
  expect(Object.isFrozen(tools) && tools?.every((facts) => Object.isFrozen(facts))).toBe(true);
});

test('an agent that the runtime does not have has unknown tools, and another error is not hidden', async () => {
  const store = new MemorySessionStore();
  const owner = new SessionRuntime({ store, agents: { helper: loopWith() } });
  const { sessionId } = await owner.create({ definition: { name: 'helper' } });
  const other = new SessionRuntime({ store, agents: {} });
  expect((await other.inspect(sessionId)).tools).toBeUndefined();
  const broken = () => {
    throw new Error('The catalog is broken.');
  };
  await expect(toolsOf(broken)).rejects.toThrow('The catalog is broken.');
});
