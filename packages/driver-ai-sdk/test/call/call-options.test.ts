import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { InferenceRequest, ToolDescription } from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';
import { convertRequest } from '../../src/call/call-options.ts';
import { request } from '../builders.ts';

const { signal } = new AbortController();
const setting = { headers: undefined, signal };
const add = {
  name: 'add',
  description: 'adds',
  inputSchema: { type: 'object' as const, properties: { a: { type: 'number' as const } }, required: ['a'] },
} satisfies ToolDescription;
const tools = Object.freeze([add]);

const settings = {
  maxOutputTokens: 100,
  temperature: 0,
  topP: 0.5,
  topK: 40,
  presencePenalty: 0.1,
  frequencyPenalty: 0.2,
  stopSequences: ['END'],
  seed: 7,
  reasoning: 'high' as const,
  providerOptions: { openai: { store: false } },
};

describe('a call', () => {
  const table: [string, Partial<InferenceRequest>, Partial<LanguageModelV4CallOptions>][] = [
    ['no settings', {}, {}],
    ['a model id only', { llmConfig: { model: 'openai:gpt-5' } }, {}],
    ['all settings', { llmConfig: { model: 'm', ...settings } }, settings],
    ['a choice without tools', { toolChoice: 'required' }, {}],
    ['tools', { tools }, { tools: [{ type: 'function', ...add }], toolChoice: { type: 'auto' } }],
    [
      'tools with what only the loop needs',
      { tools: [{ ...add, execute: () => 0, validate: () => 0 } as ToolDescription] },
      { tools: [{ type: 'function', ...add }], toolChoice: { type: 'auto' } },
    ],
    [
      'a tool that must be used',
      { tools, toolChoice: { toolName: 'add' } },
      { tools: [{ type: 'function', ...add }], toolChoice: { type: 'tool', toolName: 'add' } },
    ],
    ['text', { responseFormat: { type: 'text' } }, { responseFormat: { type: 'text' } }],
    [
      'JSON by a schema',
      { responseFormat: { type: 'json', schema: { type: 'object' }, name: 'answer', description: 'it' } },
      { responseFormat: { type: 'json', schema: { type: 'object' }, name: 'answer', description: 'it' } },
    ],
  ];
  test.each(table)('%s', (_, rest, expected) => {
    const options = convertRequest(request([], rest), [], setting);
    expect(options).toStrictEqual({ prompt: [], abortSignal: signal, ...expected });
  });

  test('has the headers of the driver', () => {
    const options = convertRequest(request([]), [], { headers: { 'x-team': 'a' }, signal });
    expect(options.headers).toStrictEqual({ 'x-team': 'a' });
  });
});

test('tools are converted once, and each call has its own arrays', () => {
  const [first, second] = [1, 2].map(() => convertRequest(request([], { tools }), [], setting));
  expect(first?.tools).not.toBe(second?.tools);
  expect(first?.tools?.[0]).toBe(second?.tools?.[0]);
  first?.tools?.push({ type: 'function', name: 'smuggled', inputSchema: {} });
  expect(convertRequest(request([], { tools }), [], setting).tools).toHaveLength(1);
});
