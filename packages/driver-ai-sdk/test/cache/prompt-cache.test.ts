import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { AgentState } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { promptCacheOf, type PromptCache } from '../../src/cache/prompt-cache.ts';

const state = AgentState.empty();
const run = { state, runContext: undefined };
const options: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }],
};

function sent(
  model: string,
  cache: PromptCache = 'auto',
  given: LanguageModelV4CallOptions = options,
): Pick<LanguageModelV4CallOptions, 'providerOptions'> & { readonly mark: unknown } {
  const [provider = '', modelId = ''] = model.split(' ');
  const { prompt, providerOptions } = promptCacheOf(cache)(given, {
    model: { provider, modelId },
    run,
    marks: [],
  });
  return { mark: prompt[0]?.providerOptions, ...(providerOptions && { providerOptions }) };
}

const anthropic = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const bedrock = { bedrock: { cachePoint: { type: 'default' } } };

describe('the mark of a message is for', () => {
  test.each([
    ['anthropic.messages claude-sonnet-4-5', anthropic],
    ['googleVertex.anthropic.messages claude-sonnet-4-5', anthropic],
    ['bedrock.anthropic.messages anthropic.claude-sonnet-4-5', anthropic],
    ['openrouter anthropic/claude-sonnet-4.5', anthropic],
    ['proxy claude-sonnet-4-5', anthropic],
    ['gateway anthropic/claude-sonnet-4.5', { ...anthropic, ...bedrock }],
    ['amazon-bedrock us.anthropic.claude-sonnet-4-5-20250929-v1:0', bedrock],
    ['amazon-bedrock anthropic.claude-3-7-sonnet-20250219-v1:0', bedrock],
    ['amazon-bedrock amazon.nova-pro-v1:0', bedrock],
    ['amazon-bedrock arn:aws:bedrock:us-east-1:1:application-inference-profile/abc1', bedrock],
    ['amazon-bedrock anthropic.claude-3-haiku-20240307-v1:0', undefined],
    ['amazon-bedrock meta.llama3-1-70b-instruct-v1:0', undefined],
    ['openai.responses gpt-5', undefined],
    ['google.generative-ai gemini-2.5-pro', undefined],
    ['openrouter openai/gpt-5', undefined],
  ])('%s', (model, mark) => {
    expect(sent(model).mark).toEqual(mark);
  });
});

test('an hour is a part of the mark, and Nova has none', () => {
  const cache = { ttl: '1h' } as const;
  expect(sent('anthropic.messages claude', cache).mark).toEqual({
    anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } },
  });
  expect(sent('amazon-bedrock anthropic.claude-opus-4-5', cache).mark).toEqual({
    bedrock: { cachePoint: { type: 'default', ttl: '1h' } },
  });
  expect(sent('amazon-bedrock amazon.nova-pro-v1:0', cache).mark).toEqual(bedrock);
});

describe('the key', () => {
  const promptCacheKey = state.agentId;
  test.each([
    ['openai.responses gpt-5', { openai: { promptCacheKey } }],
    ['openai.chat gpt-5', { openai: { promptCacheKey } }],
    ['azure.responses gpt-5', { openai: { promptCacheKey } }],
    ['gateway openai/gpt-5', { openai: { promptCacheKey } }],
    ['xai.responses grok-4', { xai: { promptCacheKey } }],
    ['xai.chat grok-4', undefined],
    ['openai-compatible.chat local', undefined],
    ['anthropic.messages claude', undefined],
  ])('is the id of the agent: %s', (model, providerOptions) => {
    expect(sent(model).providerOptions).toEqual(providerOptions);
    expect(promptCacheKey.length).toBeLessThanOrEqual(64);
  });

  test('can be chosen, and the application prevails', () => {
    const cache = { key: ({ agentId }: AgentState) => `team-${agentId}` };
    expect(sent('openai.chat gpt-5', cache).providerOptions).toEqual({
      openai: { promptCacheKey: `team-${promptCacheKey}` },
    });
    const own = { openai: { promptCacheKey: 'own', store: false } };
    expect(sent('openai.chat gpt-5', cache, { ...options, providerOptions: own }).providerOptions).toEqual(
      own,
    );
    const azure = { azure: { store: false } };
    expect(
      sent('azure.responses gpt-5', 'auto', { ...options, providerOptions: azure }).providerOptions,
    ).toEqual({
      azure: { store: false, promptCacheKey },
    });
  });

  test('is absent outside a run', () => {
    const model = { provider: 'openai.chat', modelId: 'gpt-5' };
    expect(promptCacheOf('auto')(options, { model, run: undefined, marks: [] })).toBe(options);
  });
});

test('off changes nothing', () => {
  const model = { provider: 'anthropic.messages', modelId: 'claude' };
  expect(promptCacheOf('off')(options, { model, run, marks: [] })).toBe(options);
  expect(promptCacheOf(undefined)(options, { model, run, marks: [] })).toBe(options);
});

test.each([
  ['a promise', async () => 'key'],
  ['an empty text', () => ''],
  ['65 characters', () => 'x'.repeat(65)],
])('a function "key" that returns %s is refused', (_, key) => {
  const sending = () => sent('openai.responses gpt-5', { key: key as never });
  expect(sending).toThrow('must return a string of 1 to 64 characters');
});
