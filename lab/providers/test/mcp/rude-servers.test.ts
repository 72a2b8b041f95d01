import type { MCPClient } from '@ai-sdk/mcp';
import { AgentState, createAgentLoop } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { fromAiSdkTools, type AiSdkToolSet, type FromAiSdkToolsOptions } from '@holdfast/driver-ai-sdk/tools';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { rudeOverStdio, stopMcp } from './mcp-servers.ts';

/** Servers that misbehave: each gives an error or a documented result, no call hangs, and no process stays. */

let folder: string;
let pid: number | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-rude-'));
});

afterEach(async () => {
  await stopMcp();
  await vi.waitUntil(() => !isAlive(pid), { timeout: 300_000 });
  await rm(folder, { recursive: true });
});

function isAlive(id: number | undefined): boolean {
  try {
    return id !== undefined && process.kill(id, 0);
  } catch {
    return false;
  }
}

async function connect(way: string): Promise<MCPClient> {
  const connection = await rudeOverStdio(folder, way);
  ({ pid } = connection);
  return connection.client;
}

async function toolsOf(way: string): Promise<AiSdkToolSet> {
  return (await connect(way)).tools();
}

type Options = FromAiSdkToolsOptions & {
  /** Aborts when the server has the call. */
  readonly abort?: AbortController;
};

/** One call of `act` by a model that then answers "Done.". */
async function called(set: AiSdkToolSet, { abort, ...options }: Options = {}) {
  const tools = (await fromAiSdkTools(set, options)).map((each) => ({
    ...each,
    execute: (...given: Parameters<typeof each.execute>) => {
      const result = each.execute(...given);
      abort?.abort();
      return result;
    },
  }));
  const driver = scriptedDriver({ calls: { act: {} } }, 'Done.');
  const loop = createAgentLoop({ driver, tools });
  const state = await loop.run(AgentState.empty().withUserMessage('Go.'), { signal: abort?.signal });
  const [execution] = state.steps[0]?.toolExecutions ?? [];
  return { state, outcome: execution?.outcome, shown: execution?.toResultPart().output };
}

describe('a call of a server', () => {
  test('that writes lines which are not JSON succeeds', async () => {
    const { shown } = await called(await toolsOf('noise'));
    expect(shown).toEqual({ type: 'content', value: [{ type: 'text', text: 'Done.' }] });
  });

  test('with a result of 10 MB is shortened', async () => {
    const { state, outcome, shown } = await called(await toolsOf('large'));
    expect([state.finalResponse, outcome?.type]).toEqual(['Done.', 'succeeded']);
    expect(shown).toMatchObject({ value: expect.stringContaining('[Truncated: the first 100000 of 1000') });
    expect(JSON.stringify(state).length).toBeLessThan(200_000);
  });

  test('that dies fails, and the run continues', async () => {
    const { state, outcome } = await called(await toolsOf('dies'));
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'Connection closed' } });
    expect(state.finalResponse).toBe('Done.');
  });

  test.each(['silent', 'garbage'])('that is %s ends at the timeout of the tool', async (way) => {
    const { state, outcome } = await called(await toolsOf(way), { timeoutSeconds: 0.05 });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'TOOL_TIMEOUT' } });
    expect(state.finalResponse).toBe('Done.');
  });

  test.each(['silent', 'garbage'])('that is %s ends when the run is aborted', async (way) => {
    const { state, outcome } = await called(await toolsOf(way), { abort: new AbortController() });
    expect([state.status, outcome?.type]).toEqual(['stopped', 'interrupted']);
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining('was started') } });
  });

  test('of a tool that has disappeared fails, and the run continues', async () => {
    const client = await connect('changes');
    const tools = await client.tools();
    expect(Object.keys(await client.tools())).toEqual(['other']);
    const { state, outcome } = await called(tools);
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'Tool act not found' } });
    expect(state.finalResponse).toBe('Done.');
  });
});

describe('the tools of a server', () => {
  test('with one name twice are one tool: the last', async () => {
    const tools = await fromAiSdkTools(await toolsOf('twice'));
    expect(tools.map(({ name, description }) => [name, description])).toEqual([['act', 'The second.']]);
  });

  test('with a schema that is not an object are refused', async () => {
    const set = await toolsOf('text schema');
    await expect(fromAiSdkTools(set)).rejects.toMatchObject({ code: 'TOOL_SCHEMA_INVALID' });
  });

  test('without a schema are refused by the client', async () => {
    await expect(toolsOf('no schema')).rejects.toThrow('Failed to parse server response');
  });
});
