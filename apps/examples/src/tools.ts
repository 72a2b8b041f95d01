import { AgentState, AgentStop, createAgentLoop, isExecutionOf, tool } from '@holdfast/core';
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

  // #region typed
  const call = state.lastToolExecution;
  if (call && isExecutionOf(call, add)) console.log(call.args.a + call.args.b === call.value); // => true
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
  const driver = scriptedDriver(
    { calls: { flight: { to: 'Rome', seats: 12 } } },
    { calls: { flight: { to: 'Rome', seats: 2 } } },
    { calls: { fly: {} } },
    'I could not book it.',
  );
  const state = await createAgentLoop({ driver, tools: [flight] }).run(question);
  for (const { message } of state.errors) console.log(message);
  // => The arguments of tool "flight" are not valid: seats: Too big: expected number to be <=9.
  // => There is no airport "Rome". Use its code of three letters.
  // => There is no tool named "fly". Known tools: flight.
  console.log(state.status); // => completed
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
