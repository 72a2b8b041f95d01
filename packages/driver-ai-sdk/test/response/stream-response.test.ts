import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { InferenceDelta } from '@holdfast/core/driver';
import { Usage } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { StreamedResponse } from '../../src/response/stream-response.ts';
import { finish, textParts } from '../builders.ts';

function streamed(parts: readonly LanguageModelV4StreamPart[]): {
  readonly response: StreamedResponse;
  readonly deltas: readonly InferenceDelta[];
} {
  const response = new StreamedResponse({ provider: 'openai.responses', modelId: 'gpt-5' });
  const deltas = parts.map((part) => response.add(part)).filter((delta) => delta !== undefined);
  return { response, deltas };
}

const call = { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{"a":1}' } as const;
const search = {
  type: 'tool-call',
  toolCallId: 's',
  toolName: 'search',
  input: '{}',
  providerExecuted: true,
} as const;
const item = (itemId: string) => ({ providerMetadata: { openai: { itemId } } });

describe('a complete stream', () => {
  test('text', () => {
    const { response, deltas } = streamed([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r', modelId: 'gpt-5-2026', timestamp: new Date(0) },
      ...textParts('Hel', '', 'lo'),
      { type: 'ping' },
      finish,
    ]);
    expect(deltas).toStrictEqual([
      { type: 'text', id: '0', text: 'Hel' },
      { type: 'text', id: '0', text: 'lo' },
    ]);
    expect(response.isFinished).toBe(true);
    expect(response.complete().toJSON()).toStrictEqual({
      content: [{ type: 'text', text: 'Hello' }],
      finishReason: 'stop',
      rawFinishReason: 'stop',
      usage: { inputTokens: 3, outputTokens: 2, unpricedCalls: 1 },
      modelId: 'gpt-5-2026',
      responseId: 'r',
    });
  });

  test('has its parts in the order of their starts, each with its last metadata', () => {
    const { response, deltas } = streamed([
      { type: 'reasoning-start', id: 'a', ...item('start') },
      { type: 'text-start', id: 'b' },
      { type: 'text-delta', id: 'b', delta: 'answer' },
      { type: 'reasoning-delta', id: 'a', delta: 'thought' },
      { type: 'reasoning-end', id: 'a', ...item('end') },
      { type: 'tool-input-start', id: 'c', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c', delta: '{"a"' },
      { type: 'tool-input-delta', id: 'c', delta: ':1}' },
      { type: 'tool-input-end', id: 'c' },
      { ...call, ...item('call') },
      { type: 'text-end', id: 'b' },
      finish,
    ]);
    expect(deltas).toStrictEqual([
      { type: 'text', id: 'b', text: 'answer' },
      { type: 'reasoning', id: 'a', text: 'thought' },
      { type: 'tool-input', id: 'c', toolName: 'add', text: '{"a"' },
      { type: 'tool-input', id: 'c', toolName: 'add', text: ':1}' },
    ]);
    expect(response.complete().content).toStrictEqual([
      { type: 'reasoning', text: 'thought', providerOptions: { openai: { itemId: 'end' } } },
      { type: 'text', text: 'answer' },
      {
        type: 'tool-call',
        toolCallId: 'c',
        toolName: 'add',
        input: { a: 1 },
        providerOptions: { openai: { itemId: 'call' } },
      },
    ]);
  });

  test('begins a new part when the provider reuses an id', () => {
    const { response, deltas } = streamed([
      ...textParts('one'),
      { type: 'reasoning-delta', id: '0', delta: 'hm' },
      ...textParts('two'),
      finish,
    ]);
    expect(deltas.map(({ id, text }) => [id, text])).toEqual([
      ['0', 'one'],
      ['0#2', 'hm'],
      ['0#3', 'two'],
    ]);
    expect(response.complete().content.map(({ type }) => type)).toEqual(['text', 'reasoning', 'text']);
  });

  test('holds all parts that arrive as a whole', () => {
    const { response } = streamed([
      search,
      { type: 'tool-result', toolCallId: 's', toolName: 'search', result: 'half', preliminary: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', result: { n: 1 } },
      { type: 'source', sourceType: 'url', id: 'u', url: 'https://a.example' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
      { type: 'custom', kind: 'x.y' },
      finish,
    ]);
    const types = ['tool-call', 'tool-result', 'source', 'file', 'reasoning-file', 'custom'];
    expect(response.complete().content.map(({ type }) => type)).toEqual(types);
    expect(response.complete().toolCalls).toEqual([]);
  });

  test('is not changed by unknown parts and by arguments that are not JSON text', () => {
    const { response, deltas } = streamed([
      { type: 'hologram', id: 'h' } as unknown as LanguageModelV4StreamPart,
      { type: 'raw', rawValue: {} },
      { type: 'tool-input-start', id: 'c', toolName: 'sql', inputEncoding: 'text' },
      { type: 'tool-input-delta', id: 'c', delta: 'SELECT' },
      { type: 'tool-input-delta', id: 'unknown', delta: '{' },
      ...textParts('x'),
      finish,
    ]);
    expect(deltas).toHaveLength(1);
    expect(response.complete().content).toStrictEqual([{ type: 'text', text: 'x' }]);
  });
});

describe('an interrupted stream', () => {
  test('is not finished, and a stream with the reason "interrupted" is not finished', () => {
    expect(streamed(textParts('x')).response.isFinished).toBe(false);
    const interrupted = { unified: 'interrupted', raw: undefined } as const;
    expect(
      streamed([{ ...finish, finishReason: interrupted } as LanguageModelV4StreamPart]).response.isFinished,
    ).toBe(false);
  });

  test.each([
    ['openrouter.chat', undefined, undefined, false],
    ['openrouter.chat', undefined, 3, true],
    ['openrouter.chat', 'tool_calls', undefined, true],
    ['ollama', 'tool_calls', undefined, false],
    ['ollama', 'tool_calls', 0, true],
    ['openai.responses', undefined, undefined, true],
  ])(
    'of %s with calls, the raw reason %j and %j tokens is finished: %s',
    (provider, raw, total, expected) => {
      const response = new StreamedResponse({ provider, modelId: 'm' });
      const finishReason = { unified: 'tool-calls', raw };
      const usage = { inputTokens: { total }, outputTokens: { total } };
      response.add({ ...finish, finishReason, usage } as LanguageModelV4StreamPart);
      expect(response.isFinished).toBe(expected);
    },
  );

  test('has a partial response without incomplete calls', () => {
    const { response } = streamed([
      { type: 'reasoning-start', id: 'r' },
      { type: 'text-delta', id: '0', delta: 'half' },
      call,
      search,
      { type: 'tool-input-start', id: 'd', toolName: 'add' },
      { type: 'tool-input-delta', id: 'd', delta: '{"a"' },
    ]);
    expect(response.partial('aborted')?.content).toStrictEqual([
      { type: 'text', text: 'half' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: { a: 1 } },
    ]);
    expect(response.partial('aborted')).toMatchObject({ finishReason: 'aborted', usage: Usage.unreported });
  });

  test('drops references to items that the provider never stored', () => {
    const { response } = streamed([
      { type: 'text-start', id: 'empty', ...item('gone') },
      {
        type: 'reasoning-end',
        id: 'r',
        providerMetadata: { openai: { itemId: 'gone', reasoningEncryptedContent: 'e' }, other: {} },
      },
      { type: 'text-delta', id: '0', delta: 'half', ...item('gone') },
    ]);
    expect(response.partial('error')?.content).toStrictEqual([
      { type: 'reasoning', text: '', providerOptions: { openai: { reasoningEncryptedContent: 'e' } } },
      { type: 'text', text: 'half' },
    ]);
  });

  test('has no partial response without usable content', () => {
    const { response } = streamed([
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '0' },
      { type: 'tool-input-start', id: 'd', toolName: 'add' },
    ]);
    expect(response.hasContent).toBe(false);
    expect(response.partial('aborted')).toBeUndefined();
  });

  test('has no content before its first part', () => {
    const { response } = streamed([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r' },
    ]);
    expect(response.hasContent).toBe(false);
  });
});
