import { AgentState, createAgentLoop } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesystemOverStdio } from './mcp-servers.ts';

/** A process whose agent writes a file through an MCP server, and dies before the outcome of the call is saved. */

const [folder = '', saved = ''] = process.argv.slice(2);
const client = await filesystemOverStdio(folder);
const tools = await fromAiSdkTools(await client.tools());
const dying = tools.map((each) => ({
  ...each,
  execute: async (...given: Parameters<typeof each.execute>): Promise<never> => {
    await each.execute(...given);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => undefined);
  },
}));
const driver = scriptedDriver({ calls: { write_file: { path: join(folder, 'note.txt'), content: 'Hi.' } } });
const checkpoint = {
  save: async (state: AgentState): Promise<AgentState> => {
    await writeFile(saved, JSON.stringify(state));
    return state;
  },
};
await createAgentLoop({ driver, tools: dying }).run(AgentState.empty().withUserMessage('Go.'), {
  checkpoint,
});
