import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { assistantMessage, userMessage, type LlmConfig } from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { aiSdkDriver, type AiSdkDriverOptions } from '@holdfast/driver-ai-sdk';
import { createGateway } from 'ai';
import { afterEach, describe, expect, test } from 'vitest';
import { withoutItems, withoutStorage } from '../../src/call/openai-store.ts';
import { quietly, rejection, request } from '../builders.ts';
import { localServer, stopLocalServers, type Reply } from './local-server.ts';

/** Checks that conversations with OpenAI survive the items that OpenAI stores. */

afterEach(stopLocalServers);

const answered: Reply = {
  json: {
    id: 'resp_1',
    created_at: 0,
    model: 'gpt-5',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
      },
    ],
    usage: { input_tokens: 3, output_tokens: 2 },
  },
};
const gone: Reply = {
  status: 404,
  json: { error: { message: "Item with id 'rs_1' not found.", type: 'invalid_request_error', code: null } },
};

/** Runs two turns, and returns the bodies of the requests. */
async function twoTurns(llmConfig: LlmConfig | undefined, ...replies: readonly Reply[]) {
  const server = await localServer(...replies);
  const driver = aiSdkDriver({ model: createOpenAI({ baseURL: server.url, apiKey: 'key' })('gpt-5') });
  const hello = userMessage('hello');
  const first = InferenceResponse.of(await driver.infer(request([hello], { llmConfig }), quietly()));
  const history = [hello, assistantMessage(first.content), userMessage('and?')];
  const second = driver.infer(request(history, { llmConfig }), quietly());
  return { second, bodies: server.bodies };
}

test('by default OpenAI stores nothing, and the next call sends everything', async () => {
  const { second, bodies } = await twoTurns(undefined, answered, answered);
  expect(await second).toMatchObject({ text: 'Hello.' });
  expect(bodies.map(({ store }) => store)).toEqual([false, false]);
  expect(bodies[0]?.['include']).toEqual(['reasoning.encrypted_content']);
  const sent = JSON.stringify(bodies[1]?.['input']);
  expect(sent).toContain('"encrypted_content":"sealed"');
  expect(sent).not.toContain('item_reference');
});

/** Runs two turns with a model behind an id of its own. */
async function twoTurnsOf(
  make: (url: string) => NonNullable<AiSdkDriverOptions['model']>,
  ...replies: readonly Reply[]
) {
  const server = await localServer(...replies);
  const driver = aiSdkDriver({ model: make(server.url) });
  const hello = userMessage('hello');
  const first = InferenceResponse.of(await driver.infer(request([hello]), quietly()));
  const history = [hello, assistantMessage(first.content), userMessage('and?')];
  await driver.infer(request(history), quietly());
  return server.bodies;
}

test('a model behind a name of its own is asked for encrypted reasoning, and gets it back', async () => {
  const make = (baseURL: string) => createOpenAI({ baseURL, apiKey: 'key' })('prod-main');
  const bodies = await twoTurnsOf(make, answered, answered);
  expect(bodies.map(({ store, include }) => [store, include])).toEqual(
    Array.from({ length: 2 }, () => [false, ['reasoning.encrypted_content']]),
  );
  expect(JSON.stringify(bodies[1]?.['input'])).toContain('"encrypted_content":"sealed"');
});

test('a model that does not reason is asked once', async () => {
  const refused: Reply = {
    status: 400,
    json: {
      error: {
        message: 'Encrypted content is not supported with this model.',
        type: 'invalid_request_error',
        param: 'include',
        code: null,
      },
    },
  };
  const make = (baseURL: string) => createOpenAI({ baseURL, apiKey: 'key' })('small-chat');
  const bodies = await twoTurnsOf(make, refused, answered, answered);
  expect(bodies.map(({ include }) => include)).toEqual([
    ['reasoning.encrypted_content'],
    undefined,
    undefined,
  ]);
});

const stored = { providerOptions: { openai: { store: true } } };

test('a call that refers to items that are gone is repeated once with their content', async () => {
  const { second, bodies } = await twoTurns(stored, answered, gone, answered);
  expect(await second).toMatchObject({ text: 'Hello.' });
  expect(bodies).toHaveLength(3);
  const [, referring, detached] = bodies.map(({ input }) => JSON.stringify(input));
  expect(referring).toContain('item_reference');
  expect(detached).not.toMatch(/item_reference|rs_1|msg_1/);
  expect(detached).toContain('Hello.');
});

test('and not more than once', async () => {
  const { second, bodies } = await twoTurns(stored, answered, gone, gone, answered);
  expect(await rejection(second)).toMatchObject({ kind: 'invalidRequest', data: { attempts: 2 } });
  expect(bodies).toHaveLength(3);
});

test('items that a provider made itself are omitted with their results and approvals, but for those decided now', () => {
  const said: LanguageModelV4Prompt[number] = { role: 'user', content: [{ type: 'text', text: 'u' }] };
  const search = { toolCallId: 'ws_1', toolName: 'search' };
  const own: LanguageModelV4Prompt[number] = {
    role: 'assistant',
    content: [
      { type: 'tool-call', ...search, input: {}, providerExecuted: true },
      { type: 'tool-result', ...search, output: { type: 'text', value: 'y' } },
    ],
  };
  const answer: LanguageModelV4Prompt[number] = { role: 'assistant', content: [{ type: 'text', text: 'a' }] };
  const approval = (id: string): LanguageModelV4Prompt => [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: id, toolName: 'mcp', input: {}, providerExecuted: true }],
    },
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: id, approved: true }] },
  ];
  const decided = [said, own, ...approval('mcpr_1'), answer, said];
  expect(withoutItems(decided)).toEqual([said, answer, said]);
  expect(withoutItems([...decided, ...approval('mcpr_2')])).toEqual([
    said,
    answer,
    said,
    ...approval('mcpr_2'),
  ]);
});

test.each([
  ['gpt-5', undefined],
  ['gpt-4.1', undefined],
  ['o4-mini', undefined],
  ['prod-main', ['reasoning.encrypted_content']],
  ['my-gpt-5', ['reasoning.encrypted_content']],
])('the driver asks for the reasoning of %s: %j', (modelId, include) => {
  const options: LanguageModelV4CallOptions = { prompt: [] };
  for (const provider of ['openai.responses', 'azure.responses'])
    expect(withoutStorage(options, { provider, modelId }).providerOptions?.['openai']).toEqual({
      store: false,
      ...(include && { include }),
    });
  const own = { ...options, providerOptions: { openai: { include: ['file_search_call.results'] } } };
  expect(
    withoutStorage(own, { provider: 'openai.responses', modelId }).providerOptions?.['openai']?.['include'],
  ).toEqual(['file_search_call.results', ...(include ?? [])]);
});

describe('the default', () => {
  const base: LanguageModelV4CallOptions = { prompt: [] };
  const openai = { provider: 'openai.responses', modelId: 'gpt-5' };
  const azure = { provider: 'azure.responses', modelId: 'gpt-5' };
  const tools = [{ type: 'provider', id: 'openai.web_search', name: 'search', args: {} }] as const;

  test.each([
    ['OpenAI', openai, base, { openai: { store: false } }],
    ['Azure', azure, base, { openai: { store: false } }],
    [
      'Azure with own options',
      azure,
      { ...base, providerOptions: { azure: { user: 'u' } } },
      { azure: { user: 'u', store: false } },
    ],
    ['the gateway', createGateway({ apiKey: 'k' })('openai/gpt-5'), base, { openai: { store: false } }],
    ['another model of the gateway', createGateway({ apiKey: 'k' })('xai/grok-4'), base, undefined],
    ['chat completions', { ...openai, provider: 'openai.chat' }, base, undefined],
    ['tools that OpenAI runs', openai, { ...base, tools: [...tools] }, undefined],
    [
      'a conversation at OpenAI',
      openai,
      { ...base, providerOptions: { openai: { previousResponseId: 'r' } } },
      { openai: { previousResponseId: 'r' } },
    ],
  ])('for %s', (_, model, options: LanguageModelV4CallOptions, expected) => {
    expect(withoutStorage(options, model).providerOptions).toEqual(expected);
  });
});
