import { AgentState, AgentStop, createAgentLoop, tool, toolResult } from '@holdfast/core';
import { scriptedDriver, toolContext } from '@holdfast/core/testing';
import { z } from 'zod';

const question = AgentState.empty().withUserMessage('Please.');

{
  // #region tool
  const add = tool({
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b, // both are numbers, to the compiler too
  });
  const driver = scriptedDriver({ calls: { add: { a: 2, b: 2 } } }, 'It is 4.');
  const state = await createAgentLoop({ driver, tools: [add] }).run(question);
  console.log(state.finalResponse, state.lastToolExecution?.value); // => It is 4. 4
  // #endregion

  // #region test-a-tool
  console.log(await add.execute({ a: 1, b: 2 }, toolContext())); // => 3
  // #endregion
}

{
  // #region json-schema
  const greet = tool<{ name: string }>({
    name: 'greet',
    description: 'Greets somebody.',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    execute: ({ name }) => `Hello ${name}`,
  });
  // #endregion
  console.log(await greet.execute({ name: 'Ada' }, toolContext())); // => Hello Ada
}

{
  // #region errors
  const flight = tool({
    name: 'flight',
    description: 'Books a flight.',
    inputSchema: z.object({ to: z.string(), seats: z.number().max(9) }),
    execute({ to }) {
      throw new Error(`There is no airport "${to}". Use its code of three letters.`);
    },
  });
  const calls = [{ flight: { to: 'Rome', seats: 12 } }, { flight: { to: 'Rome', seats: 2 } }, { fly: {} }];
  const driver = scriptedDriver(...calls.map((call) => ({ calls: call })), 'I could not book it.');
  const state = await createAgentLoop({ driver, tools: [flight] }).run(question);
  for (const { message } of state.errors) console.log(message);
  // => The arguments of tool "flight" are not valid: seats: Too big: expected number to be <=9.
  // => There is no airport "Rome". Use its code of three letters.
  // => There is no tool named "fly". Known tools: flight.
  console.log(state.status); // => completed
  // #endregion
}

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

{
  // #region stop
  const handOver = tool({
    name: 'handOver',
    description: 'Hands the conversation to a person.',
    inputSchema: z.object({ why: z.string() }),
    execute({ why }) {
      throw new AgentStop(why);
    },
  });
  const driver = scriptedDriver({ calls: { handOver: { why: 'A refund.' } } });
  const state = await createAgentLoop({ driver, tools: [handOver] }).run(question);
  console.log(state.status, state.stopReason, state.stopSignal?.message); // => stopped stopRequested A refund.
  // #endregion
}
