import { openai } from '@ai-sdk/openai';
import { AgentState, createAgentLoop } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';

const driver = aiSdkDriver({ model: openai('gpt-5') });
const loop = createAgentLoop({ driver });
const state = await loop.run(AgentState.empty().withUserMessage('Why is the sky blue?'));
console.log(state.finalResponse); // => Rayleigh scattering.
