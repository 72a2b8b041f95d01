import { AgentState, createAgentLoop, isExecutionOf, tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const weather = tool({
  name: 'weather',
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ celsius: city.length, at: new Date(0) }),
});
const clock = tool({
  name: 'clock',
  description: 'Tells the time.',
  inputSchema: z.object({}),
  execute: () => 12,
});

test('isExecutionOf finds the executions of a tool and types their arguments and value', async () => {
  const driver = scriptedDriver({ calls: { clock: {}, weather: { city: 'Oslo' } } }, 'Done.');
  const state = await createAgentLoop({ driver, tools: [weather, clock] }).run(
    AgentState.empty().withUserMessage('Weather?'),
  );
  const executions = state.steps[0]?.toolExecutions ?? [];
  const found = executions.filter((execution) => isExecutionOf(execution, weather));
  expect(found.map(({ args: { city }, value }) => [city, value?.celsius, value?.at])).toEqual([
    ['Oslo', 4, '1970-01-01T00:00:00.000Z'],
  ]);
});
