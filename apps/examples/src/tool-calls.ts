import { AgentState, createAgentLoop, tool, toolResult } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { z } from 'zod';

const question = AgentState.empty().withUserMessage('Please.');

{
  // #region retry
  const rates = tool({
    name: 'rates',
    description: 'Exchange rates.',
    inputSchema: z.object({}),
    timeoutSeconds: 10, // for each try
    retry: { maxAttempts: 3, delaySeconds: 0, isRetryable: (error) => !(error instanceof TypeError) },
    execute(_, { attempt, progress, saveProgress }) {
      if (attempt > 1) return { attempt, progress };
      saveProgress({ page: 7 }); // for the next try
      throw new Error('The connection was reset.');
    },
  });
  const driver = scriptedDriver({ calls: { rates: {} } }, 'Done.');
  const state = await createAgentLoop({ driver, tools: [rates] }).run(question);
  console.log(state.lastToolExecution?.value); // => { attempt: 2, progress: { page: 7 } }
  // #endregion
}

{
  // #region results
  const orders = tool({
    name: 'orders',
    description: 'All orders.',
    inputSchema: z.object({}),
    execute(_, { addUsage, remaining }) {
      addUsage({ inputTokens: 100, outputTokens: 20 });
      const metadata = { tokensLeft: remaining().maxTokens };
      return toolResult({ value: ['a', 'b'], modelOutput: { type: 'text', value: '2 orders' }, metadata });
    },
  });
  const driver = scriptedDriver({ calls: { orders: {} } }, 'Two.');
  const loop = createAgentLoop({ driver, tools: [orders], budget: { maxTokens: 1_000 } });
  const state = await loop.run(question);
  console.log(state.lastToolExecution?.value, driver.requests[1]?.messages.last?.content);
  // => [ 'a', 'b' ] […'2 orders'…]
  console.log(state.metadata.get('tokensLeft'), state.usage.totalTokens); // => 865 150
  // #endregion
}

{
  // #region size
  const read = tool({
    name: 'read',
    description: 'Reads a file.',
    inputSchema: z.object({}),
    execute: () => 'x'.repeat(5_000),
  });
  const driver = scriptedDriver({ calls: { read: {} } }, 'Long.');
  const state = await createAgentLoop({ driver, tools: [read], maxToolResultLength: 10 }).run(question);
  console.log(state.lastToolExecution?.value);
  // => xxxxxxxxxx
  // => [Cut: the first 10 of 5000 characters are shown.]
  // #endregion
}
