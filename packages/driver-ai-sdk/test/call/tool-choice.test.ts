import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { withKnownChoice } from '../../src/call/tool-choice.ts';

const options = (type: 'none' | 'auto' | 'required'): LanguageModelV4CallOptions => ({
  prompt: [],
  tools: [{ type: 'function', name: 'look', inputSchema: { type: 'object' } }],
  toolChoice: { type },
});

test('a provider without the choice none keeps its tools', () => {
  const bedrock = { provider: 'amazon-bedrock', modelId: 'anthropic.claude' };
  expect(withKnownChoice(options('none'), bedrock)).toEqual(options('auto'));
  const required = options('required');
  expect(withKnownChoice(required, bedrock)).toBe(required);
});

test('other providers receive the choice as it is', () => {
  const none = options('none');
  expect(withKnownChoice(none, { provider: 'anthropic.messages', modelId: 'claude' })).toBe(none);
});
