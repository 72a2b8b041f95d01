import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { FinishReason } from '@holdfast/core';
import { InferenceResponse, providerTool, type AssistantPart, type UsageFields } from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';
import {
  convertContent,
  convertFinishReason,
  convertPartialResult,
  convertResult,
  isFinished,
  withDeferredCalls,
} from '../../src/response/convert-response.ts';
import { convertUsage } from '../../src/response/reported-usage.ts';
import { answer } from '../builders.ts';

const providerMetadata = { openai: { itemId: 'i' } };
const providerOptions = providerMetadata;

describe('content', () => {
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'add' } as const;
  const result = { type: 'tool-result', toolCallId: '1', toolName: 'search' } as const;
  const table: [string, LanguageModelV4Content, AssistantPart | undefined][] = [
    ['text', { type: 'text', text: 'a', providerMetadata }, { type: 'text', text: 'a', providerOptions }],
    ['empty text', { type: 'text', text: '' }, undefined],
    ['empty text with empty metadata', { type: 'text', text: '', providerMetadata: {} }, undefined],
    [
      'empty text with a signature',
      { type: 'text', text: '', providerMetadata },
      { type: 'text', text: '', providerOptions },
    ],
    ['reasoning', { type: 'reasoning', text: 'hm' }, { type: 'reasoning', text: 'hm' }],
    [
      'empty reasoning with encrypted content',
      { type: 'reasoning', text: '', providerMetadata },
      { type: 'reasoning', text: '', providerOptions },
    ],
    ['empty reasoning', { type: 'reasoning', text: '' }, undefined],
    [
      'file in base64',
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
    ],
    [
      'file in bytes',
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([0, 1, 2]) } },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } },
    ],
    [
      'file at a URL',
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://a.example/b') } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://a.example/b' } },
    ],
    [
      'file of the reasoning',
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AAEC' },
        providerMetadata,
      },
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AAEC' },
        providerOptions,
      },
    ],
    [
      'source',
      { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example', providerMetadata },
      { type: 'source', source: { sourceType: 'url', id: 's', url: 'https://a.example' }, providerOptions },
    ],
    [
      'custom',
      { type: 'custom', kind: 'x.y', providerMetadata },
      { type: 'custom', kind: 'x.y', providerOptions },
    ],
    ['call', { ...call, input: '{"a":1}', providerMetadata }, { ...call, input: { a: 1 }, providerOptions }],
    ['call without arguments', { ...call, input: ' ' }, { ...call, input: {} }],
    [
      'call that the provider runs',
      { ...call, input: '{}', providerExecuted: true, dynamic: true },
      { ...call, input: {}, providerExecuted: true },
    ],
    [
      'result in text',
      { ...result, result: 'found' },
      { ...result, output: { type: 'text', value: 'found' } },
    ],
    [
      'result in JSON',
      { ...result, result: { n: 1 } },
      { ...result, output: { type: 'json', value: { n: 1 } } },
    ],
    [
      'result that is an error',
      { ...result, result: 'gone', isError: true },
      { ...result, output: { type: 'error-json', value: 'gone' } },
    ],
    ['preliminary result', { ...result, result: 'half', preliminary: true }, undefined],
    ['request for approval', { type: 'tool-approval-request', approvalId: 'a', toolCallId: '1' }, undefined],
  ];
  test.each(table)('%s', (_, part, expected) => {
    const content = convertContent([part]);
    expect(content).toStrictEqual(expected ? [expected] : []);
    expect(InferenceResponse.of({ content }).content).toStrictEqual(content);
  });

  test('a call with invalid JSON has its text as input, and the parser error in `invalid`', () => {
    const [part] = convertContent([{ ...call, input: '{"a":' }]);
    expect(part).toStrictEqual({
      ...call,
      input: '{"a":',
      invalid: expect.stringContaining('not valid JSON'),
    });
  });

  test('a call with a whole number that would be rounded has its text as input, and `invalid` names the number', () => {
    const input = '{"order":12345678901234567890,"note":"12345678901234567891"}';
    expect(convertContent([{ ...call, input }])).toStrictEqual([
      {
        ...call,
        input,
        invalid:
          'The whole number 12345678901234567890 in the arguments has too many digits: it would be rounded. Send it as a string.',
      },
    ]);
    const executed = { ...call, input, providerExecuted: true };
    expect(convertContent([executed])).toStrictEqual([{ ...executed, input: JSON.parse(input) }]);
    const text = '{"order":"12345678901234567890","price":0.30000000000000004}';
    expect(convertContent([{ ...call, input: text }])).toStrictEqual([{ ...call, input: JSON.parse(text) }]);
  });

  test('a part of an unknown type is omitted', () => {
    const content = [
      { type: 'hologram', text: 'x' },
      { type: 'text', text: 'y' },
    ] as unknown as LanguageModelV4Content[];
    expect(convertContent(content)).toStrictEqual([{ type: 'text', text: 'y' }]);
  });

  test('the parts are in the order of the model', () => {
    const types = convertContent([
      { type: 'reasoning', text: 'r' },
      { ...call, input: '{}' },
      { type: 'text', text: 't' },
      { type: 'reasoning', text: 'r' },
    ]).map(({ type }) => type);
    expect(types).toEqual(['reasoning', 'tool-call', 'text', 'reasoning']);
  });

  test('a large file is converted', () => {
    const bytes = new Uint8Array(100_000).map((_, index) => index % 251);
    const [part] = convertContent([{ type: 'file', mediaType: 'x/y', data: { type: 'data', data: bytes } }]);
    expect(part).toMatchObject({ data: { data: Buffer.from(bytes).toString('base64') } });
  });

  test('metadata that is not JSON is converted to JSON', () => {
    const metadata = { google: { signature: 's', missing: undefined } } as unknown as typeof providerMetadata;
    expect(convertContent([{ type: 'text', text: 'a', providerMetadata: metadata }])).toStrictEqual([
      { type: 'text', text: 'a', providerOptions: { google: { signature: 's' } } },
    ]);
  });
});

describe('usage', () => {
  const table: [string, Partial<LanguageModelV4Usage> | undefined, UsageFields][] = [
    [
      'all counts',
      {
        inputTokens: { total: 10, noCache: 2, cacheRead: 5, cacheWrite: 3 },
        outputTokens: { total: 7, text: 4, reasoning: 3 },
        raw: { prompt_tokens: 10 },
      },
      { inputTokens: 10, outputTokens: 7, cacheReadTokens: 5, cacheWriteTokens: 3, reasoningTokens: 3 },
    ],
    [
      'output only',
      {
        inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 7, text: undefined, reasoning: undefined },
      },
      { outputTokens: 7, unreportedCalls: 1 },
    ],
    ['an empty usage object', {}, { unreportedCalls: 1 }],
    ['no usage object', undefined, { unreportedCalls: 1 }],
    [
      'numbers that cannot be',
      {
        inputTokens: { total: Number.NaN, noCache: undefined, cacheRead: -1, cacheWrite: 0.5 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
      { outputTokens: 0, reasoningTokens: 0, unreportedCalls: 1 },
    ],
  ];
  test.each(table)('%s', (_, usage, expected) => {
    expect(convertUsage(usage as LanguageModelV4Usage).toJSON()).toStrictEqual({
      ...expected,
      unpricedCalls: 1,
    });
  });
});

describe('finish reasons', () => {
  const table: [string, FinishReason][] = [
    ['stop', 'stop'],
    ['length', 'length'],
    ['content-filter', 'content-filter'],
    ['tool-calls', 'tool-calls'],
    ['error', 'error'],
    ['other', 'other'],
    ['something new', 'other'],
    ['toString', 'other'],
  ];
  test.each(table)('%s is %s', (unified, expected) => {
    expect(convertFinishReason({ unified, raw: 'x' } as LanguageModelV4FinishReason)).toBe(expected);
  });
});

test.each([
  [{ unified: 'stop', raw: undefined }, true],
  [{ unified: 'tool-calls', raw: undefined }, true],
  [{ unified: 'other', raw: 'eos' }, true],
  [{ unified: 'something new', raw: 'new' }, true],
  [{ unified: 'other', raw: undefined }, false],
  [{ unified: 'other', raw: '' }, false],
  [{ unified: 'interrupted', raw: 'gone' }, false],
  [undefined, false],
])('a response with the finish reason %j is finished: %s', (reason, expected) => {
  expect(isFinished(reason as Parameters<typeof isFinished>[0])).toBe(expected);
});

test.each([
  ['zeros', { total: 0 }, { inputTokens: undefined, outputTokens: undefined, isComplete: false }],
  ['counts', { total: 3 }, { inputTokens: 3, outputTokens: 3, isComplete: true }],
])('an interrupted response that reports %s', (_, counts, expected) => {
  const result = answer('hi', {
    usage: { inputTokens: counts, outputTokens: counts } as LanguageModelV4Usage,
  });
  expect(convertPartialResult(result, 'gpt-5')?.usage).toMatchObject(expected);
});

test('a complete response is converted', () => {
  const result = answer('hi', {
    finishReason: { unified: 'length', raw: 'max_tokens' },
    providerMetadata: { openai: { responseId: 'r' } },
    response: {
      id: 'r',
      modelId: 'gpt-5-2026',
      timestamp: new Date(0),
      headers: { 'x-secret': '1' },
      body: {},
    },
  });
  expect(convertResult(result, 'gpt-5').toJSON()).toStrictEqual({
    content: [{ type: 'text', text: 'hi' }],
    finishReason: 'length',
    rawFinishReason: 'max_tokens',
    usage: { inputTokens: 3, outputTokens: 2, unpricedCalls: 1 },
    providerMetadata: { openai: { responseId: 'r' } },
    modelId: 'gpt-5-2026',
    responseId: 'r',
  });
});

test('a response without a model id has the id of the called model', () => {
  expect(convertResult(answer('hi'), 'gpt-5')).toMatchObject({ modelId: 'gpt-5', responseId: undefined });
});

test('a response with a deferred call keeps the facts of its HTTP response', () => {
  const facts = { requestId: 'req_1', responseHeaders: { 'x-a': '1' } };
  const call = {
    type: 'tool-call',
    toolCallId: 'call_1',
    toolName: 'run',
    input: '{}',
    providerExecuted: true,
  } as const;
  const response = convertResult(answer([call]), 'model', facts);
  const tools = [providerTool({ name: 'run', id: 'anthropic.code', supportsDeferredResults: true })];
  const deferred = withDeferredCalls(response, tools);
  expect(deferred.content[0]).toHaveProperty('providerOptions.holdfast', { isDeferred: true });
  expect({ ...deferred, content: [] }).toEqual({ ...response, content: [] });
});
