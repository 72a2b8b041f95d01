import { AgentState, createAgentLoop, tool } from '@holdfast/core';
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

  {
    // #region audit
    const closed: Hook = { beforeToolUse: () => ({ block: 'The shop is closed.' }) }; // the second hook, without a name
    const audit: Hook = {
      name: 'audit',
      priority: -10, // after the others
      beforeToolUse({ toolName }, { blockedBy }) {
        for (const { hook, reason } of blockedBy) console.log(`${toolName} blocked by ${hook}: ${reason}`);
      },
    };
    const driver = scriptedDriver({ calls: { remove: { path: '/etc/hosts' } } }, 'I may not.');
    const hooks = [onlyTemporary, closed, audit];
    const state = await createAgentLoop({ driver, tools, hooks }).run(question);
    // => remove blocked by onlyTemporary: Only in /tmp.
    // => remove blocked by hook 2: The shop is closed.
    console.log(state.lastToolExecution?.blockedBy.length); // => 2
    // #endregion
  }
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
