import {
  approve,
  clearHistory,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  regenerate,
  sendMessage,
  SessionRuntime,
  subagent,
  tool,
  type AgentSession,
  type BudgetLimits,
  type Tool,
} from '@holdfast/core';
import { manualClock, scriptedDriver, steppedClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { call, does, nextStart } from '../../support/builders.ts';

const definition = { name: 'helper', llmConfig: { model: 'm' } };
const prices = { m: { input: 1_000, output: 1_000 } }; // a call of 15 tokens costs 0.015 dollars
const sent = (runtime: SessionRuntime, sessionId: string): Promise<AgentSession> =>
  runtime.execute(sessionId, sendMessage('Go.'));
const ending = ({ state, totals }: AgentSession): unknown[] => [
  state.status,
  state.stopReason,
  totals.executions,
  totals.steps,
];

/** A store with a session of this budget, and processes with these tools. */
async function world(budget: BudgetLimits, tools: readonly Tool[] = [does('look')]) {
  const store = new MemorySessionStore();
  const process = (...script: ScriptedAnswer[]): SessionRuntime => {
    const clock = steppedClock(nextStart());
    const loop = createAgentLoop({ driver: scriptedDriver(...script), tools, prices, clock });
    return new SessionRuntime({ store, agents: { helper: loop }, clock: steppedClock(nextStart()) });
  };
  const { sessionId } = await process().create({ definition, budget });
  return { store, process, sessionId };
}

test('the steps of all executions count, also in other processes', async () => {
  const { process, sessionId } = await world({ maxSteps: 5 });
  const first = process(call('look'), 'One.', call('look'), 'Two.');
  expect(ending(await sent(first, sessionId))).toEqual(['completed', undefined, 1, 2]);
  expect(ending(await sent(first, sessionId))).toEqual(['completed', undefined, 2, 4]);
  const second = process(call('look'), 'Never.');
  expect(ending(await sent(second, sessionId))).toEqual(['stopped', 'stepsLimitReached', 3, 5]);
  const last = await sent(process(), sessionId);
  expect(ending(last)).toEqual(['stopped', 'stepsLimitReached', 4, 5]);
  expect(last.state.stopSignal?.message).toBe(
    '0 of 0 steps are used up. The budget of the session allows no more.',
  );
});

test('the cost of all executions counts, and one model call at most exceeds it', async () => {
  const { process, sessionId } = await world({ maxCost: 0.04 });
  const runtime = process('One.', 'Two.', 'Three.');
  for (const cost of [0.015, 0.03, 0.045]) expect((await sent(runtime, sessionId)).totals.cost).toBe(cost);
  const stopped = await sent(process(), sessionId);
  expect(ending(stopped)).toEqual(['stopped', 'costLimitReached', 4, 3]);
  const { executions } = await runtime.executions(sessionId);
  expect(executions.map(({ stopReason, steps }) => [stopReason, steps])).toEqual([
    ['costLimitReached', 0],
    [undefined, 1],
    [undefined, 1],
    [undefined, 1],
  ]);
});

test('an execution that waits for approval continues with what is left, and counts once', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => 'paid',
  });
  const { process, sessionId } = await world({ maxSteps: 3 }, [pay, does('look')]);
  const asked = await sent(process('One.', call('pay')), sessionId);
  expect(ending(asked)).toEqual(['completed', undefined, 1, 1]);
  const waiting = await sent(process(call('pay')), sessionId);
  expect(waiting.totals).toMatchObject({ executions: 2, steps: 2 }); // with the open step
  const [request] = pendingApprovals(waiting.state);
  const other = process(call('look'), 'Never.');
  const session = await other.execute(sessionId, approve(request?.id ?? ''));
  expect(ending(session)).toEqual(['stopped', 'stepsLimitReached', 2, 3]);
});

test('what a subagent costs counts, and its limit is what is left of the session', async () => {
  const driver = scriptedDriver(call('look'), call('look'), 'Found.');
  const loop = createAgentLoop({ driver, prices, tools: [does('look')], clock: steppedClock(nextStart()) });
  const expert = subagent({ name: 'expert', description: 'Knows more.', loop });
  const ask = { calls: [['expert', { prompt: 'Find it.' }]] } as const;
  const { process, sessionId } = await world({ maxCost: 0.055 }, [expert]);
  const runtime = process('One.', ask, 'Never.');
  expect((await sent(runtime, sessionId)).totals.cost).toBe(0.015);
  const session = await sent(runtime, sessionId);
  expect(ending(session)).toEqual(['stopped', 'costLimitReached', 2, 2]);
  expect(session.totals.cost).toBe(0.06); // one call, and two of the subagent before its limit
  expect(driver.requests).toHaveLength(2);
});

test('cleared and discarded executions count', async () => {
  const { process, sessionId } = await world({ maxSteps: 3 });
  const runtime = process('One.', 'Two.', 'Three.');
  await sent(runtime, sessionId);
  await runtime.execute(sessionId, regenerate());
  await runtime.execute(sessionId, clearHistory());
  expect(ending(await sent(runtime, sessionId))).toEqual(['completed', undefined, 3, 3]);
  expect(ending(await sent(process(), sessionId))).toEqual(['stopped', 'stepsLimitReached', 4, 3]);
});

test('seconds, tokens and a deadline are limits too, and those of the loop hold as well', async () => {
  const tokens = await world({ maxTokens: 30 });
  await sent(tokens.process('One.'), tokens.sessionId);
  await sent(tokens.process('Two.'), tokens.sessionId);
  expect((await sent(tokens.process(), tokens.sessionId)).state.stopReason).toBe('tokenLimitReached');
  const late = await world({ deadline: 1 });
  expect((await sent(late.process(), late.sessionId)).state.stopReason).toBe('timeLimitReached');

  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const works = does('look', () => clock.advance(40_000));
  const driver = scriptedDriver(call('look'), 'One.', call('look'), 'Never.');
  const loop = createAgentLoop({ driver, tools: [works], clock, budget: { maxSteps: 2 } });
  const runtime = new SessionRuntime({ store, agents: { helper: loop }, clock, leaseSeconds: 600 });
  const { sessionId } = await runtime.create({ definition, budget: { maxSeconds: 60, maxSteps: 100 } });
  expect(ending(await sent(runtime, sessionId))).toEqual(['completed', undefined, 1, 2]);
  const session = await sent(runtime, sessionId);
  expect([session.state.stopReason, session.totals.seconds]).toEqual(['timeLimitReached', 80]);
});

test('a fork begins with the whole budget', async () => {
  const { process, sessionId } = await world({ maxSteps: 1 });
  const runtime = process('One.', 'Two.');
  await sent(runtime, sessionId);
  const copy = await runtime.fork(sessionId);
  expect([copy.budget?.maxSteps, copy.totals.steps]).toEqual([1, 0]);
  expect(ending(await sent(runtime, copy.sessionId))).toEqual(['completed', undefined, 1, 1]);
});

test('a cost limit of a session needs prices, as that of a loop does', async () => {
  const driver = scriptedDriver('Never.');
  const runtime = new SessionRuntime({
    store: new MemorySessionStore(),
    agents: { helper: createAgentLoop({ driver }) },
  });
  const { sessionId } = await runtime.create({ definition, budget: { maxCost: 1 } });
  await expect(sent(runtime, sessionId)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  expect(driver.requests).toEqual([]);
});
