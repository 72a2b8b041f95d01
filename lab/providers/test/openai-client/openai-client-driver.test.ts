import { driverTests, type CreateDriver, type DriverAbilities } from '@holdfast/conformance';
import {
  fetchAbilities,
  KEY,
  OpenAiServer,
  redDriverCases,
  TEAM,
  wrappedDefects,
} from '@holdfast/conformance/test';
import { testCases } from '@holdfast/conformance/vitest';
import { AgentState, createAgentLoop, tool } from '@holdfast/core';
import { LLMock } from '@copilotkit/aimock';
import { OpenAI } from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { openAiClientDriver } from './openai-client-driver.ts';
import { responsesApi } from './responses-protocol.ts';

/** The Responses API has no mark for results that are errors, and of the settings only these. */
const abilities: DriverAbilities = {
  ...fetchAbilities,
  errorResults: false,
  settings: ['maxOutputTokens', 'temperature', 'topP'],
};

const server = await OpenAiServer.start(responsesApi);
afterAll(() => server.stop());

const clientOf = (baseURL: string): OpenAI =>
  new OpenAI({ baseURL, apiKey: KEY, defaultHeaders: { 'x-team': TEAM } });

const create: CreateDriver = async (script) => {
  const { url, ...provider } = server.provider(script);
  return { driver: openAiClientDriver({ client: clientOf(url), model: 'model-1' }), ...provider };
};

describe('a driver on the client of OpenAI', () => {
  testCases(driverTests({ create, ...abilities }));
});

const red: Readonly<Record<string, readonly string[]>> = redDriverCases;
/** Defects that the Responses API cannot show: it has no stop sequences, and no mark for results that are errors. */
const HIDDEN: readonly string[] = [
  'drops stop sequences',
  'tells errors as results',
  'tells results as errors',
];

describe.concurrent('a driver on the client of OpenAI with a defect', () => {
  test.for(Object.entries(wrappedDefects))('%s', async ([name, defect], { expect }) => {
    const broken: CreateDriver = async (script) => {
      const sound = await create(script);
      return { ...sound, driver: defect(sound.driver, { secrets: [KEY, TEAM] }) };
    };
    const tests = driverTests({ create: broken, ...abilities, pauseSeconds: 2 });
    const shown = tests.filter((one) => !one.skip && red[name]?.includes(one.name));
    const results = await Promise.allSettled(shown.map(({ run }) => run()));
    expect(results.some(({ status }) => status === 'rejected')).toBe(!HIDDEN.includes(name));
  });
});

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  execute: () => 3,
});
const QUESTION = AgentState.empty().withUserMessage('one sum');
const SUM = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };

test('OpenAI stores nothing, and gets its encrypted reasoning back', async () => {
  const { url } = server.provider([
    { type: 'answer', reasoning: 'A sum.', calls: [SUM] },
    { type: 'answer', text: 'It is 3.' },
  ]);
  const bodies: string[] = [];
  const client = clientOf(url).withOptions({
    fetch: (address, init) => {
      bodies.push(typeof init?.body === 'string' ? init.body : '');
      return fetch(address, init);
    },
  });
  const loop = createAgentLoop({ driver: openAiClientDriver({ client, model: 'gpt-5' }), tools: [add] });
  const end = await loop.run(QUESTION);
  expect(end.finalResponse).toBe('It is 3.');
  expect(JSON.parse(bodies[1] ?? '')).toMatchObject({
    store: false,
    input: [
      { role: 'user' },
      { type: 'reasoning', encrypted_content: 'sealed', summary: [{ text: 'A sum.' }] },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: '3' },
    ],
  });
});

test('the Responses API of aimock, which others wrote, understands the driver', async () => {
  const mock = new LLMock({ port: 0, strict: true });
  mock.on({ hasToolResult: false }, { toolCalls: [SUM] });
  mock.on({ hasToolResult: true }, { content: 'It is 3.' });
  await mock.start();
  const driver = openAiClientDriver({ client: clientOf(`${mock.url}/v1`), model: 'gpt-4.1' });
  const end = await createAgentLoop({ driver, tools: [add] }).run(QUESTION);
  await mock.stop();
  expect([end.status, end.finalResponse, end.stepCount]).toEqual(['completed', 'It is 3.', 2]);
});
