import type { MCPClient } from '@ai-sdk/mcp';
import { AgentState, createAgentLoop, type JsonObject } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { everythingOverHttp, everythingOverStdio, filesystemOverStdio, stopMcp } from './mcp-servers.ts';

/** Tools of real MCP servers in the loop. */

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-mcp-')));
});

afterEach(async () => {
  await stopMcp();
  await rm(folder, { recursive: true, force: true });
});

/** One call of a tool by a model that then answers "Done.". */
async function called(client: MCPClient, name: string, input: JsonObject, onCall = () => {}) {
  const driver = scriptedDriver({ calls: { [name]: input } }, 'Done.');
  const loop = createAgentLoop({ driver, tools: await fromAiSdkTools(await client.tools()) });
  const state = await loop.run(AgentState.empty().withUserMessage('Go.'), {
    onEvent: ({ type }) => {
      if (type === 'tool-started') onCall();
    },
  });
  const [execution] = state.steps[0]?.toolExecutions ?? [];
  return { state, outcome: execution?.outcome, shown: execution?.toResultPart().output };
}

/** Runs the agent of `dying-agent.ts` until it dies. */
async function dieAfterCall(saved: string): Promise<void> {
  const script = fileURLToPath(new URL('dying-agent.ts', import.meta.url));
  const args = ['--conditions=@holdfast/source', script, folder, saved];
  const agent = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = (await once(agent, 'exit')) as [number | null, NodeJS.Signals | null];
  expect(signal).toBe('SIGKILL');
}

describe.each(['stdio', 'streamable HTTP'])('a server over %s', (transport) => {
  const connect = () => (transport === 'stdio' ? everythingOverStdio(folder) : everythingOverHttp());

  test('runs a tool', async () => {
    const { client } = await connect();
    const { shown } = await called(client, 'get-sum', { a: 2, b: 40 });
    expect(shown).toEqual({
      type: 'content',
      value: [{ type: 'text', text: 'The sum of 2 and 40 is 42.' }],
    });
  });

  test('returns a picture', async () => {
    const { client } = await connect();
    const { shown } = await called(client, 'get-tiny-image', {});
    expect(shown).toMatchObject({
      type: 'content',
      value: [
        { type: 'text' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data' } },
        { type: 'text' },
      ],
    });
  });

  test('refuses arguments, which the model reads as an error', async () => {
    const { client } = await connect();
    const { shown } = await called(client, 'get-sum', { a: 'two', b: 40 });
    expect(shown).toMatchObject({ type: 'error-text', value: expect.stringContaining('expected number') });
  });

  test('is killed during a call: the call fails, and the run continues', async () => {
    const { client, kill } = await connect();
    const { state, outcome } = await called(
      client,
      'trigger-long-running-operation',
      { duration: 600 },
      () => {
        void kill();
      },
    );
    expect([outcome?.type, state.status, state.finalResponse]).toEqual(['failed', 'completed', 'Done.']);
  });
});

describe('a server of files', () => {
  const named = (text: string) => ({ path: join(folder, 'note.txt'), content: text });

  test('runs tools with effects of their annotations', async () => {
    const client = await filesystemOverStdio(folder);
    const tools = await fromAiSdkTools(await client.tools(), { effects: 'annotations' });
    const effects = Object.fromEntries(tools.map(({ name, effect }) => [name, effect]));
    expect(effects).toMatchObject({
      read_text_file: 'readOnly',
      write_file: 'idempotent',
      edit_file: 'once',
    });
    const { state } = await called(client, 'write_file', named('Hi.'));
    expect([state.status, await readFile(join(folder, 'note.txt'), 'utf8')]).toEqual(['completed', 'Hi.']);
  });

  test('reports a failure, which is the outcome of the call', async () => {
    const client = await filesystemOverStdio(folder);
    const { outcome } = await called(client, 'read_text_file', { path: join(folder, 'missing.txt') });
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'TOOL_FAILED', message: expect.stringContaining('ENOENT') },
    });
  });

  test.each([
    ['once', 'Changed since.', 'interrupted'],
    ['idempotent', 'Hi.', 'succeeded'],
  ] as const)('after the death of the agent, a call of effect %s', async (effect, text, outcome) => {
    const path = join(folder, 'note.txt');
    const saved = join(folder, 'state.json');
    await dieAfterCall(saved);
    expect(await readFile(path, 'utf8')).toBe('Hi.');
    await writeFile(path, 'Changed since.');
    const client = await filesystemOverStdio(folder);
    const tools = await fromAiSdkTools(await client.tools(), { effects: { write_file: effect } });
    const state = AgentState.fromJSON(JSON.parse(await readFile(saved, 'utf8')));
    const done = await createAgentLoop({ driver: scriptedDriver('Done.'), tools }).run(state);
    expect([done.finalResponse, done.steps[0]?.toolExecutions[0]?.outcome?.type]).toEqual(['Done.', outcome]);
    expect(await readFile(path, 'utf8')).toBe(text);
  });
});
