import { AgentState } from '@holdfast/core';
import { writeFile } from 'node:fs/promises';
import { deferredAgent } from './deferred-agent.ts';

/** A process that runs the agent and saves each state to a file, until it is killed. */

const [url = '', saved = ''] = process.argv.slice(2);
const checkpoint = {
  save: async (state: AgentState): Promise<AgentState> => {
    await writeFile(saved, JSON.stringify(state));
    return state;
  },
};
await (await deferredAgent(url)).run(AgentState.empty().withUserMessage('Go.'), { checkpoint });
