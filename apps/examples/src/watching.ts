import {
  AgentState,
  consoleObserver,
  createAgentLoop,
  eventListener,
  redactedListener,
  tool,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { z } from 'zod';

const question = AgentState.empty().withUserMessage('What is 2 + 2?');
const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const calls = { calls: { add: { a: 2, b: 2 } } };

{
  // #region listeners
  const loop = createAgentLoop({
    driver: scriptedDriver(calls, 'It is 4.'),
    tools: [add],
    listeners: [
      eventListener('tool-completed', ({ toolExecution }) =>
        console.log(toolExecution.name, toolExecution.value),
      ),
      eventListener(['execution-completed', 'execution-failed'], (event) =>
        console.log(event.type, event.state.stepCount),
      ),
    ],
  });
  await loop.run(question);
  // => add 4
  // => execution-completed 2
  // #endregion
}

{
  // #region events
  const types = new Set<string>();
  const loop = createAgentLoop({ driver: scriptedDriver(calls, 'It is 4.'), tools: [add] });
  await loop.run(question, { onEvent: ({ type }) => types.add(type) });
  console.log([...types].join(' ').replace(' tool-completed', '\ntool-completed'));
  // => execution-started step-started inference-started inference-completed usage-updated tool-started
  // => tool-completed step-completed continuation-evaluated inference-delta execution-completed
  // #endregion
}

{
  // #region console
  const driver = scriptedDriver(calls, 'It is 4.');
  const loop = createAgentLoop({ driver, tools: [add], listeners: [consoleObserver()] });
  await loop.run(question);
  // => ▶ execution 1 started
  // =>   step 1
  // =>     10 in, 5 out, tool-calls
  // =>     → add {"a":2,"b":2}
  // =>     ← add = 4 (… s)
  // =>   step 2
  // =>     │ It is 4.
  // =>     10 in, 5 out, stop
  // => ■ execution 1 completed: 2 steps, 20 in, 10 out, … s
  // #endregion
}

{
  // #region stream
  const loop = createAgentLoop({ driver: scriptedDriver('It is probably 4.') });
  const stream = loop.stream(question);
  const pieces: string[] = [];
  for await (const event of stream) {
    if (event.type === 'inference-delta') pieces.push(event.delta.text);
  }
  console.log(pieces, (await stream.result).status); // => [ 'It ', 'is ', 'probably ', '4.' ] completed
  // #endregion
}

{
  // #region redaction
  const masked = redactedListener(
    eventListener('inference-completed', ({ response, state }) =>
      console.log(response.text, state.messages.length),
    ),
    (content) => (typeof content === 'string' ? content.replaceAll(/\S+@\S+/g, '[email]') : '[data]'),
  );
  const driver = scriptedDriver('Write to ada@example.org today.');
  const state = await createAgentLoop({ driver, listeners: [masked] }).run(question);
  console.log(state.finalResponse);
  // => Write to [email] today. 0
  // => Write to ada@example.org today.
  // #endregion
}
