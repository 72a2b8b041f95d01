import { AgentState, cancellation, createAgentLoop, finishReason, RunAbort, tool } from '@holdfast/core';
import type { Hook } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { z } from 'zod';

const question = AgentState.empty().withUserMessage('Please.');
const look = tool({ name: 'look', description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });
const remove = tool({
  name: 'remove',
  description: 'Removes a file.',
  inputSchema: z.object({ path: z.string() }),
  execute: ({ path }) => `removed ${path}`,
});
const tools = [look, remove];

{
  // #region order
  const seen: string[] = [];
  const trace: Hook = {
    beforeExecution: () => void seen.push('beforeExecution'),
    beforeStep: () => void seen.push('\nbeforeStep'),
    beforeInference: () => void seen.push('beforeInference'),
    afterInference: () => void seen.push('afterInference'),
    beforeToolUse: () => void seen.push('beforeToolUse'),
    afterToolUse: () => void seen.push('afterToolUse'),
    afterStep: () => void seen.push('afterStep'),
    onStop: () => void seen.push('onStop'),
    onError: () => void seen.push('onError'),
    afterExecution: () => void seen.push('afterExecution'),
  };
  const driver = scriptedDriver({ calls: { look: {} } }, new Error('The provider is down.'));
  await createAgentLoop({ driver, tools, hooks: [trace] }).run(question);
  console.log(seen.join(' '));
  // => beforeExecution
  // => beforeStep beforeInference afterInference beforeToolUse afterToolUse afterStep
  // => beforeStep beforeInference onError afterExecution
  // #endregion
}

{
  // #region block
  const onlyTemporary: Hook = {
    name: 'onlyTemporary',
    priority: 10, // before hooks that do not say: theirs is 0
    beforeToolUse({ toolName, input }) {
      const isAllowed = toolName !== 'remove' || JSON.stringify(input).includes('"/tmp/');
      return isAllowed ? undefined : { block: 'Only in /tmp.' };
    },
  };
  const driver = scriptedDriver({ calls: { remove: { path: '/etc/hosts' } } }, 'I may not.');
  const state = await createAgentLoop({ driver, tools, hooks: [onlyTemporary] }).run(question);
  console.log(state.status, state.lastToolExecution?.outcome?.type, state.errors[0]?.message);
  // => completed blocked Only in /tmp.
  // #endregion
}

{
  // #region replace
  const careful: Hook = {
    beforeStep: (state, { clock }) => state.withMetadata('step', state.stepCount + 1, clock.now()),
    beforeInference: (request) => ({ request: { ...request, llmConfig: { temperature: 0 } } }),
    beforeToolUse: (call) => ({ call: { ...call, input: { path: '/tmp/copy' } } }),
    afterToolUse: (execution, { clock }) => ({
      toolExecution: execution.withOutcome({ type: 'succeeded', value: 'It is gone.' }, clock.now()),
    }),
  };
  const driver = scriptedDriver({ calls: { remove: { path: '/home/ada' } } }, 'Done.');
  const state = await createAgentLoop({ driver, tools, hooks: [careful] }).run(question);
  console.log(driver.requests[0]?.llmConfig, state.metadata.get('step')); // => { temperature: 0 } 2
  const { args, value } = state.lastToolExecution ?? {};
  console.log(args, value); // => { path: '/tmp/copy' } It is gone.
  // #endregion
}

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
