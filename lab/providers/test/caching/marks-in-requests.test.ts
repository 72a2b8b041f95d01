import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGateway } from '@ai-sdk/gateway';
import { createGoogle } from '@ai-sdk/google';
import { createGoogleVertexAnthropic } from '@ai-sdk/google-vertex/anthropic/edge';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createXai } from '@ai-sdk/xai';
import { AgentState, assistantMessage, createAgentLoop, tool, userMessage } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

type Fetch = typeof globalThis.fetch;

const start = AgentState.empty()
  .withSystemPrompt('Be brief.')
  .withMessages([userMessage('Hi.'), assistantMessage('Hello.'), userMessage('What is new?')]);
const tools = ['find', 'read'].map((name) =>
  tool({ name, description: name, inputSchema: z.object({}), execute: () => '' }),
);

/** The body of the request that a model sends. */
async function bodyOf(
  create: (fetch: Fetch) => LanguageModelV4,
  promptCache: 'off' | 'auto' = 'auto',
): Promise<unknown> {
  const bodies: unknown[] = [];
  const model = create((_, init) => {
    bodies.push(JSON.parse(init?.body as string));
    return Promise.resolve(
      Response.json({ error: { message: 'The test needs only the request.' } }, { status: 400 }),
    );
  });
  await createAgentLoop({ driver: aiSdkDriver({ model, promptCache, maxRetries: 0 }), tools }).run(start);
  expect(bodies).toHaveLength(1);
  return bodies[0];
}

/** The paths in the JSON at which members with the name are. */
function pathsTo(name: string, json: unknown, path = ''): readonly string[] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    key === name ? [path] : pathsTo(name, value, path === '' ? key : `${path}.${key}`),
  );
}

const key = { apiKey: 'test' };
const vertex = { project: 'p', location: 'global', generateAuthToken: () => Promise.resolve('test') };
const messages = ['messages.0.content.0', 'messages.2.content.0'];

describe('marks arrive in the request of', () => {
  test.each<[string, string, (fetch: Fetch) => LanguageModelV4, readonly string[]]>([
    [
      'Anthropic',
      'cache_control',
      (fetch) => createAnthropic({ ...key, fetch })('claude-sonnet-4-5'),
      ['system.0', ...messages, 'tools.1'],
    ],
    [
      'Anthropic on Vertex',
      'cache_control',
      (fetch) => createGoogleVertexAnthropic({ ...vertex, fetch })('claude-sonnet-4-5'),
      ['system.0', ...messages, 'tools.1'],
    ],
    [
      'Bedrock',
      'cachePoint',
      (fetch) =>
        createAmazonBedrock({ ...key, region: 'r', fetch })('us.anthropic.claude-sonnet-4-5-20250929-v1:0'),
      ['system.1', 'messages.0.content.1', 'messages.2.content.1'],
    ],
    [
      'OpenRouter',
      'cache_control',
      (fetch) => createOpenRouter({ ...key, fetch }).chat('anthropic/claude-sonnet-4.5'),
      ['messages.0.content.0', 'messages.1.content.0', 'messages.3.content.0'],
    ],
    [
      'AI Gateway',
      'cacheControl',
      (fetch) => createGateway({ ...key, fetch })('anthropic/claude-sonnet-4.5'),
      [
        'tools.1.providerOptions.anthropic',
        'prompt.0.providerOptions.anthropic',
        'prompt.1.providerOptions.anthropic',
        'prompt.3.providerOptions.anthropic',
      ],
    ],
  ])('%s', async (_, name, create, expected) => {
    expect(pathsTo(name, await bodyOf(create))).toEqual(expected);
  });
});

describe('the key arrives in the request of', () => {
  test.each<[string, (fetch: Fetch) => LanguageModelV4]>([
    ['OpenAI (Responses)', (fetch) => createOpenAI({ ...key, fetch })('gpt-5')],
    ['OpenAI (Chat)', (fetch) => createOpenAI({ ...key, fetch }).chat('gpt-5')],
    ['xAI (Responses)', (fetch) => createXai({ ...key, fetch }).responses('grok-4')],
  ])('%s', async (_, create) => {
    expect(await bodyOf(create)).toMatchObject({ prompt_cache_key: start.agentId });
  });
});

test('a request to Google is the same with and without', async () => {
  const create = (fetch: Fetch): LanguageModelV4 => createGoogle({ ...key, fetch })('gemini-2.5-pro');
  expect(await bodyOf(create, 'auto')).toEqual(await bodyOf(create, 'off'));
});
