import { AgentState, type RunOptions } from '@holdfast/core';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProviderServer, type Script } from '../../src/server.ts';
import { jsonResponse } from '../../src/wires/event-stream.ts';
import { deferredAgent, replies } from './deferred-agent.ts';

/** A call of the provider in one response, its result two responses later, and a crash between them. */

const PROCESS = fileURLToPath(new URL('deferred-process.ts', import.meta.url));

let server: ProviderServer;
let folder: string;
beforeAll(async () => {
  server = await ProviderServer.start();
  folder = await mkdtemp(join(tmpdir(), 'holdfast-deferred-'));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** The replies from a place on. */
const repliesFrom =
  (place: number): Script =>
  (_, index) => ({ response: jsonResponse(replies[place + index] ?? {}) });

async function runFrom(state: AgentState, place: number, checkpoint?: RunOptions['checkpoint']) {
  server.play(repliesFrom(place));
  const end = await (await deferredAgent(server.url)).run(state, { ...(checkpoint && { checkpoint }) });
  return { bodies: [...server.bodies], answer: end.finalResponse };
}

interface Save {
  readonly json: string;
  /** The number of responses before the save. */
  readonly responses: number;
}

/** A run without a crash, and each state that it saved. */
async function wholeRun() {
  const saves: Save[] = [];
  const checkpoint: RunOptions['checkpoint'] = {
    save: async (state) => {
      saves.push({ json: JSON.stringify(state), responses: responsesIn(state) });
      return state;
    },
  };
  return { ...(await runFrom(AgentState.empty().withUserMessage('Go.'), 0, checkpoint)), saves };
}

function responsesIn({ steps, currentStep }: AgentState): number {
  return new Set([...steps, currentStep].filter((step) => step?.response !== undefined)).size;
}

const loaded = (json: string): AgentState => AgentState.fromJSON(JSON.parse(json));

/** Kills the process of the agent when the request with this index arrives. Returns the last saved state. */
async function stateOfKilled(index: number): Promise<string> {
  const saved = join(folder, `state-${index}.json`);
  const children: ChildProcess[] = [];
  server.play((request, at) => {
    if (at === index) children[0]?.kill('SIGKILL');
    return repliesFrom(0)(request, at);
  });
  const args = ['--conditions=@holdfast/source', '--no-warnings', PROCESS, server.url, saved];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  return readFile(saved, 'utf8');
}

describe('a result of the provider that comes in a later response', () => {
  test('after a crash at any save, the requests are those of a run without a crash', async () => {
    const { saves, bodies, answer } = await wholeRun();
    expect([bodies.length, answer]).toEqual([3, 'It is 10.']);
    expect(new Set(saves.map(({ responses }) => responses))).toEqual(new Set([1, 2]));
    for (const { json, responses } of saves) {
      const rest = await runFrom(loaded(json), responses);
      expect(rest).toEqual({ bodies: bodies.slice(responses), answer });
    }
  });

  test.each([1, 2])('after SIGKILL during request %s, another process sends it again', async (index) => {
    const { bodies, answer } = await wholeRun();
    const rest = await runFrom(loaded(await stateOfKilled(index)), index);
    expect(rest).toEqual({ bodies: bodies.slice(index), answer });
  });
});
