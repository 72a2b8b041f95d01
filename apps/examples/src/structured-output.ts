import { AgentState, createAgentLoop, structuredOutput } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { z } from 'zod';

const weather = structuredOutput(z.object({ city: z.string(), celsius: z.number() }));
const driver = scriptedDriver('It is 21 degrees.', '{ "city": "Rome", "celsius": 21 }');
const loop = createAgentLoop({ driver, hooks: [weather] });

const state = await loop.run(AgentState.empty().withUserMessage('What is the weather in Rome?'));
const { city, celsius } = weather.read(state); // typed; throws OUTPUT_INVALID when there is no answer
console.log(city, celsius + 1, state.stepCount); // => Rome 22 2
