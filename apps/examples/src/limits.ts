import {
  AgentState,
  cancellation,
  createAgentLoop,
  ExecutionBudget,
  finishReason,
  RunAbort,
  tool,
} from '@holdfast/core';
import type { BudgetLimits, Hook } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { z } from 'zod';

const question = AgentState.empty().withUserMessage('Please.');
const look = tool({ name: 'look', description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });
const tools = [look];

{
  // #region budget
  const loop = createAgentLoop({
    driver: scriptedDriver({ calls: { look: {} } }, { calls: { look: {} } }, 'Seen enough.'), // 15 tokens each
    tools,
    budget: {
      maxSteps: 10, // 20 when nothing is said; Infinity for no limit
      maxTokens: 25, // input and output together
      maxSeconds: 300, // worked on: waiting and being dead do not count
      maxCost: 0.5, // US dollars; needs prices
      deadline: Date.parse('2100-01-01T00:00:00Z'),
    },
    prices: { 'gpt-5': { input: 1.25, cacheRead: 0.125, output: 10 } }, // dollars for a million tokens
  });
  const state = await loop.run(question.withLlmConfig({ model: 'openai:gpt-5' }));
  console.log(state.stopReason, state.stopSignal?.message, state.cost);
  // => tokenLimitReached 30 of 25 tokens are used up. 0.000125
  // #endregion
}

{
  // #region steps
  const script = Array.from({ length: 30 }, () => ({ calls: { look: {} } }));
  const stepsWith = async (budget: BudgetLimits) => {
    const loop = createAgentLoop({ driver: scriptedDriver(...script, 'Seen enough.'), tools, budget });
    return (await loop.run(question)).stepCount;
  };
  const limits = { maxTokens: 10_000 };
  console.log(await stepsWith(limits), await stepsWith(ExecutionBudget.of(limits))); // => 20 20
  console.log(await stepsWith({ maxSteps: Infinity }), await stepsWith(ExecutionBudget.unlimited())); // => 31 31
  // #endregion
}

{
  // #region resume
  const driver = scriptedDriver({ calls: { look: {} } }, { calls: { look: {} } }, 'A cat.');
  const loop = createAgentLoop({ driver, tools, budget: { maxSteps: 2 } });
  let state = question;
  for await (state of loop.iterate(question)) break; // the process ends after one step
  const stored = JSON.stringify(state);

  const resumed = await loop.run(AgentState.fromJSON(JSON.parse(stored)));
  console.log(resumed.stepCount, resumed.stopReason); // => 2 stepsLimitReached
  const next = await loop.run(resumed.withUserMessage('Go on.'));
  console.log(next.stepCount, next.finalResponse, next.executionCount); // => 1 A cat. 2
  // #endregion
}

{
  // #region guards
  const hooks = [cancellation(() => true, 'Cancelled in the dashboard.'), finishReason('content-filter')];
  const { stopReason, stopSignal } = await createAgentLoop({ driver: scriptedDriver(), hooks }).run(question);
  console.log(stopReason, stopSignal?.message); // => userRequested Cancelled in the dashboard.
  // #endregion
}

{
  // #region own-guard
  const workingHours: Hook = {
    name: 'workingHours',
    checkLimit({ metadata }) {
      if (metadata.get('shop') === 'open') return undefined;
      return { reason: 'stopRequested', message: 'The shop is closed.', source: 'workingHours' };
    },
  };
  const driver = scriptedDriver(); // is not called
  const state = await createAgentLoop({ driver, tools, hooks: [workingHours] }).run(question);
  console.log(state.status, state.stopSignal?.message); // => stopped The shop is closed.
  // #endregion
}

{
  // #region failures
  const [wrong, right] = [{ calls: { fly: {} } }, { calls: { look: {} } }]; // there is no tool "fly"
  const driver = scriptedDriver(wrong, right, wrong, wrong);
  const stopped = await createAgentLoop({ driver, tools, maxConsecutiveFailures: 1 }).run(question);
  console.log(stopped.stopSignal?.message); // => 2 steps have failed one after another.

  const strict = createAgentLoop({ driver: scriptedDriver(wrong), tools, toolErrors: 'fail' });
  const failed = await strict.run(question);
  console.log(failed.status, failed.stopReason); // => failed errorForbade
  // #endregion
}

{
  // #region abort
  const loop = createAgentLoop({ driver: scriptedDriver('Here I am.') });
  const cancelled = await loop.run(question, { signal: AbortSignal.abort() });
  console.log(cancelled.status, cancelled.stopReason); // => stopped userRequested

  const left = await loop.run(question, { signal: AbortSignal.abort(new RunAbort('yield')) });
  console.log(left.status, (await loop.run(left)).finalResponse); // => inProgress Here I am.
  // #endregion
}
