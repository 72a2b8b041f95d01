import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { assistantMessage, systemMessage, userMessage, type Message, type UserPart } from '@holdfast/core';
import { toolMessage, type AssistantPart, type ToolOutput } from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';
import { convertMessage, type SentFiles } from '../../src/prompt/convert-message.ts';

const none: SentFiles = new Map();
const options = { anthropic: { signature: 's' } };

/** Nothing of the converted message is frozen, as a provider may write into it. */
function expectWritable(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof URL)
    return;
  expect(value).not.toSatisfy(Object.isFrozen);
  for (const member of Object.values(value)) expectWritable(member);
}

describe('messages', () => {
  const table: [string, Message, LanguageModelV4Message | undefined][] = [
    ['system', systemMessage('be brief'), { role: 'system', content: 'be brief' }],
    [
      'system with options',
      systemMessage('be brief', { providerOptions: options }),
      { role: 'system', content: 'be brief', providerOptions: options },
    ],
    ['empty system', systemMessage(''), undefined],
    ['user', userMessage('hi'), { role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    [
      'user with options and metadata',
      userMessage('hi', { providerOptions: options, metadata: { secret: 'stays here' } }),
      { role: 'user', content: [{ type: 'text', text: 'hi' }], providerOptions: options },
    ],
    ['empty user', userMessage(''), undefined],
    ['assistant', assistantMessage('yes'), { role: 'assistant', content: [{ type: 'text', text: 'yes' }] }],
    ['assistant with sources only', assistantMessage([{ type: 'source', source: { url: 'u' } }]), undefined],
    ['no results', toolMessage([]), undefined],
  ];
  test.each(table)('%s', (_, message, expected) => {
    const converted = convertMessage(message, none);
    expect(converted).toStrictEqual(expected);
    if (converted) expectWritable(converted);
  });
});

describe('parts of an assistant', () => {
  type Sent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
  const table: [string, AssistantPart, Sent][] = [
    ['text', { type: 'text', text: 'a' }, [{ type: 'text', text: 'a' }]],
    ['empty text', { type: 'text', text: '' }, []],
    [
      'empty text with options',
      { type: 'text', text: '', providerOptions: options },
      [{ type: 'text', text: '', providerOptions: options }],
    ],
    [
      'reasoning with its signature',
      { type: 'reasoning', text: 'hm', providerOptions: options },
      [{ type: 'reasoning', text: 'hm', providerOptions: options }],
    ],
    [
      'call',
      { type: 'tool-call', toolCallId: '1', toolName: 'add', input: { a: 1 }, providerOptions: options },
      [{ type: 'tool-call', toolCallId: '1', toolName: 'add', input: { a: 1 }, providerOptions: options }],
    ],
    [
      'call whose arguments could not be parsed',
      { type: 'tool-call', toolCallId: '1', toolName: 'add', input: '{"a":', invalid: 'not JSON' },
      [{ type: 'tool-call', toolCallId: '1', toolName: 'add', input: {} }],
    ],
    [
      'call whose arguments do not fit the schema',
      { type: 'tool-call', toolCallId: '1', toolName: 'add', input: { b: 1 }, invalid: 'no a' },
      [{ type: 'tool-call', toolCallId: '1', toolName: 'add', input: { b: 1 } }],
    ],
    [
      'call that the provider ran',
      { type: 'tool-call', toolCallId: '1', toolName: 'search', input: {}, providerExecuted: true },
      [{ type: 'tool-call', toolCallId: '1', toolName: 'search', input: {}, providerExecuted: true }],
    ],
    [
      'result of the provider',
      { type: 'tool-result', toolCallId: '1', toolName: 'search', output: { type: 'json', value: [1] } },
      [{ type: 'tool-result', toolCallId: '1', toolName: 'search', output: { type: 'json', value: [1] } }],
    ],
    [
      'custom',
      { type: 'custom', kind: 'openai.compaction', providerOptions: options },
      [{ type: 'custom', kind: 'openai.compaction', providerOptions: options }],
    ],
    ['source', { type: 'source', source: { url: 'https://a.example' } }, []],
  ];
  test.each(table)('%s', (_, part, expected) => {
    const converted = convertMessage(assistantMessage([part, { type: 'text', text: 'end' }]), none);
    expect(converted?.content).toStrictEqual([...expected, { type: 'text', text: 'end' }]);
    expectWritable(converted);
  });
});

test('files are sent as they were prepared', () => {
  const part: UserPart = {
    type: 'file',
    mediaType: 'image/*',
    data: { type: 'url', url: 'https://a.example/a.png' },
    filename: 'a.png',
    providerOptions: options,
  };
  const message = userMessage([part]);
  const file = { data: { type: 'data', data: 'AAAA' }, mediaType: 'image/png' } as const;
  expect(convertMessage(message, new Map([[message.content[0] as object, file]]))).toStrictEqual({
    role: 'user',
    content: [{ type: 'file', ...file, filename: 'a.png', providerOptions: options }],
  });
});

test('a reasoning file is sent as a reasoning file', () => {
  const message = assistantMessage([
    {
      type: 'reasoning-file',
      mediaType: 'image/png',
      data: { type: 'data', data: 'AAAA' },
      providerOptions: { google: { thoughtSignature: 't' } },
    },
  ]);
  const file = { data: { type: 'data', data: 'AAAA' }, mediaType: 'image/png' } as const;
  expect(convertMessage(message, new Map([[message.content[0] as object, file]]))?.content).toStrictEqual([
    { type: 'reasoning-file', ...file, providerOptions: { google: { thoughtSignature: 't' } } },
  ]);
});

describe('output of tools', () => {
  const same: ToolOutput[] = [
    { type: 'text', value: 'ok' },
    { type: 'json', value: { a: [1, null] } },
    { type: 'error-text', value: 'failed' },
    { type: 'error-json', value: { code: 7 } },
    { type: 'execution-denied', reason: 'no' },
    { type: 'execution-denied' },
    { type: 'content', value: [{ type: 'text', text: 'seen' }] },
    { type: 'content', value: [{ type: 'custom', providerOptions: { openai: { a: 1 } } }] },
    { type: 'text', value: 'kept', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
  ];
  const result = { type: 'tool-result', toolCallId: '1', toolName: 'look' } as const;

  test.each(same)('$type is the same in the core and in the AI SDK', (output) => {
    const message = toolMessage([{ ...result, output, providerOptions: options }]);
    expect(convertMessage(message, none)).toStrictEqual({
      role: 'tool',
      content: [{ ...result, output, providerOptions: options }],
    });
  });
});

describe('the result of a call that waited for approval by the provider', () => {
  const named = { type: 'tool-result', toolCallId: 'call_1', toolName: 'mcp.read' } as const;
  const providerOptions = { holdfast: { approvalId: 'mcpr_1' } };
  const result = (output: ToolOutput) => toolMessage([{ ...named, output, providerOptions }]);

  test.each<[string, ToolOutput, boolean]>([
    ['an approval', { type: 'json', value: { approved: true } }, true],
    ['a denial', { type: 'execution-denied' }, false],
    ['a text of a compiler in the place of a denial', { type: 'text', value: '[removed]' }, false],
    ['another value', { type: 'json', value: { approved: 'true' } }, false],
    ['null', { type: 'json', value: null }, false],
  ])('is sent as approved only if it is an approval: %s', (_, output, approved) => {
    const sent = convertMessage(result(output), new Map());
    expect(sent?.content[0]).toMatchObject({ type: 'tool-approval-response', approved });
  });
});
