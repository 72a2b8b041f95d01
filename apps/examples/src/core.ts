import { AgentState, createAgentLoop } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';

const loop = createAgentLoop({ driver: scriptedDriver('Hello.') });
const state = await loop.run(AgentState.empty().withUserMessage('Hi'));
console.log(state.status, state.finalResponse); // => completed Hello.

const later = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
console.log(later.finalResponse); // => Hello.
