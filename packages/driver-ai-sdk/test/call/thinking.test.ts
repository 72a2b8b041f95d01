import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { withoutRefusedThinking, withSignedThinking } from '../../src/call/thinking.ts';

const user: LanguageModelV4Prompt[number] = { role: 'user', content: [{ type: 'text', text: 'u' }] };
const call = { type: 'tool-call', toolCallId: '1', toolName: 'look', input: {} } as const;
const results: LanguageModelV4Prompt[number] = {
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: '1', toolName: 'look', output: { type: 'text', value: 'y' } }],
};
const bare: LanguageModelV4Prompt = [user, { role: 'assistant', content: [call] }, results];
const thought: LanguageModelV4Prompt = [
  user,
  { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, call] },
  results,
];
const answer: LanguageModelV4CallOptions['prompt'][number] = {
  role: 'assistant',
  content: [{ type: 'text', text: 'Rain.' }],
};
const claude = { provider: 'anthropic.messages', modelId: 'claude-sonnet-4-5' };
const budget = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 }, other: 1 } };

test.each<[string, LanguageModelV4CallOptions, unknown]>([
  [
    'calls without thinking',
    { prompt: bare, providerOptions: budget },
    { thinking: { type: 'disabled' }, other: 1 },
  ],
  ['a level of reasoning', { prompt: bare, reasoning: 'high' }, { thinking: { type: 'disabled' } }],
  ['thinking before the calls', { prompt: thought, providerOptions: budget }, budget.anthropic],
  ['no calls', { prompt: [user], providerOptions: budget }, budget.anthropic],
  [
    'calls without thinking, and words of the user after the results',
    { prompt: [...bare, user], providerOptions: budget },
    { thinking: { type: 'disabled' }, other: 1 },
  ],
  ['calls of a turn before', { prompt: [...bare, answer, user], providerOptions: budget }, budget.anthropic],
  [
    'adaptive thinking',
    { prompt: bare, providerOptions: { anthropic: { thinking: { type: 'adaptive' } } } },
    { thinking: { type: 'adaptive' } },
  ],
  ['no thinking', { prompt: bare }, undefined],
])('Anthropic, %s', (_, options, expected) => {
  expect(withoutRefusedThinking(options, claude).providerOptions?.['anthropic']).toEqual(expected);
});

test('Bedrock has a switch of its own, and other providers have none', () => {
  const options = { prompt: bare, providerOptions: { bedrock: { reasoningConfig: { type: 'enabled' } } } };
  const bedrock = { provider: 'amazon-bedrock', modelId: 'anthropic.claude' };
  expect(withoutRefusedThinking(options, bedrock).providerOptions).toEqual({
    bedrock: { reasoningConfig: { type: 'disabled' } },
  });
  expect(withoutRefusedThinking(options, { provider: 'openai.chat', modelId: 'm' })).toBe(options);
});

const ownThinking = {
  type: 'reasoning',
  text: 'own',
  providerOptions: { anthropic: { signature: 's' } },
} as const;
const unsignedThinking = {
  type: 'reasoning',
  text: 'hm',
  providerOptions: { other: { id: 1 }, anthropic: { kept: true } },
} as const;

test('thinking without a signature gets an empty one for DeepSeek behind the protocol of Anthropic', () => {
  const content = [ownThinking, unsignedThinking, { type: 'reasoning', text: ' ' } as const, call];
  const prompt: LanguageModelV4Prompt = [user, { role: 'assistant', content }, results];
  const deepSeek = { provider: 'anthropic.messages', modelId: 'deepseek-v4-pro' };
  expect(withSignedThinking({ prompt }, deepSeek).prompt).toEqual([
    user,
    {
      role: 'assistant',
      content: [
        ownThinking,
        {
          ...unsignedThinking,
          providerOptions: { other: { id: 1 }, anthropic: { signature: '', kept: true } },
        },
        { type: 'reasoning', text: ' ', providerOptions: { anthropic: { signature: '' } } },
        call,
      ],
    },
    results,
  ]);
});

test.each([
  ['Claude', claude],
  ['the provider of DeepSeek', { provider: 'deepseek.chat', modelId: 'deepseek-v4-pro' }],
])('%s receives thinking as it is', (_, model) => {
  const options = { prompt: thought };
  expect(withSignedThinking(options, model)).toBe(options);
});
