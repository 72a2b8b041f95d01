import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { assistantMessage, systemMessage, userMessage, type Message } from '@holdfast/core';
import { toolMessage, type AssistantPart, type MessagePart, type ToolOutput } from '@holdfast/core/driver';
import { generateText, modelMessageSchema, type ModelMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { answer, quietly, request } from '../builders.ts';

/** The prompts that the driver and the AI SDK send for the same conversation, as a model receives them. */

function model(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async () => answer('ok'),
    supportedUrls: { 'image/*': [/^https:/], 'application/pdf': [/^https:/] },
  });
}

async function ourPrompt(
  messages: readonly Message[],
  systemPrompt?: string,
): Promise<LanguageModelV4Prompt> {
  const mock = model();
  await aiSdkDriver({ model: mock }).infer(request(messages, { systemPrompt }), quietly());
  return promptOf(mock);
}

async function theirPrompt(messages: readonly Message[], system?: string): Promise<LanguageModelV4Prompt> {
  const mock = model();
  const sent = messages.map(modelMessage);
  for (const message of sent) expect(modelMessageSchema.safeParse(message).error).toBeUndefined();
  const instructions = system === undefined ? {} : { instructions: system };
  await generateText({
    model: mock,
    messages: sent,
    allowSystemInMessages: true,
    maxRetries: 0,
    ...instructions,
  });
  return promptOf(mock);
}

function promptOf(mock: MockLanguageModelV4): LanguageModelV4Prompt {
  return mock.doGenerateCalls[0]?.prompt ?? [];
}

/** The message as users of the AI SDK write it. The types differ in URLs and in the parts that are not sent. */
function modelMessage({ role, content, providerOptions }: Message): ModelMessage {
  const options = providerOptions && { providerOptions };
  if (role === 'system')
    return { role, content: content.map(({ text }) => text).join(''), ...options } as ModelMessage;
  const parts = content.filter(({ type }) => type !== 'source').map(modelPart);
  return { role, content: parts, ...options } as ModelMessage;
}

function modelPart(part: MessagePart): object {
  if (part.type === 'file' && part.data.type === 'url') return { ...part, data: new URL(part.data.url) };
  if (part.type === 'tool-result' && part.output.type === 'content') {
    const value = part.output.value.map((item) =>
      item.type === 'file' && item.data.type === 'url'
        ? { ...item, data: { type: 'url', url: new URL(item.data.url) } }
        : item,
    );
    return { ...part, output: { type: 'content', value } };
  }
  return part;
}

const signed = { providerOptions: { anthropic: { signature: 'sig' } } };
const item = (itemId: string) => ({ providerOptions: { openai: { itemId } } });
const call = (toolCallId: string, rest: object = {}): AssistantPart => {
  return { type: 'tool-call', toolCallId, toolName: 'add', input: { a: 1 }, ...rest };
};
const result = (toolCallId: string, output: ToolOutput = { type: 'json', value: 2 }) => {
  return { type: 'tool-result' as const, toolCallId, toolName: 'add', output };
};
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk';

const conversations: [string, readonly Message[], string?][] = [
  ['a question', [userMessage('hi')]],
  ['a system prompt', [userMessage('hi')], 'be brief'],
  ['a few turns', [userMessage('hi'), assistantMessage('hello'), userMessage('bye')], 'be brief'],
  [
    'options on messages and parts',
    [
      userMessage([{ type: 'text', text: 'hi', ...signed }], item('u')),
      assistantMessage([{ type: 'text', text: 'hello', ...item('t') }], signed),
      userMessage('bye'),
    ],
  ],
  ['metadata', [userMessage('hi', { metadata: { customer: 's' } })]],
  [
    'system messages between others',
    [userMessage('a'), systemMessage('in French', signed), assistantMessage('b'), userMessage('c')],
    'be brief',
  ],
  [
    'reasoning, a call and its result',
    [
      userMessage('1 + 1?'),
      assistantMessage([
        { type: 'reasoning', text: 'easy', ...signed },
        { type: 'reasoning', text: '', ...item('rs') },
        { type: 'text', text: 'let me see' },
        call('1', item('fc')),
      ]),
      toolMessage([result('1')]),
      assistantMessage('2'),
      userMessage('thanks'),
    ],
  ],
  [
    'parallel calls, results in two messages',
    [
      userMessage('sum'),
      assistantMessage([call('1'), call('2'), call('3')]),
      toolMessage([{ ...result('1'), ...signed }, result('2')], item('first')),
      toolMessage([result('3')], item('second')),
    ],
  ],
  [
    'every kind of output',
    [
      userMessage('sum'),
      assistantMessage(['1', '2', '3', '4', '5', '6', '7'].map((id) => call(id))),
      toolMessage([
        result('1', { type: 'text', value: 'two' }),
        result('2', { type: 'error-text', value: 'no' }),
        result('3', { type: 'error-json', value: { code: 1 } }),
        result('4', { type: 'execution-denied', reason: 'not now' }),
        result('5', { type: 'execution-denied' }),
        result('6', { type: 'json', value: null }),
        result('7', {
          type: 'content',
          value: [
            { type: 'text', text: 'see', ...signed },
            { type: 'file', mediaType: 'image/jpeg', data: { type: 'data', data: png }, filename: 'a.png' },
            { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://a.example/a.png' } },
            {
              type: 'file',
              mediaType: 'application/pdf',
              data: { type: 'reference', reference: { openai: 'f' } },
            },
          ],
        }),
      ]),
    ],
  ],
  [
    'tools that the provider runs',
    [
      userMessage('search'),
      assistantMessage([
        call('s', { providerExecuted: true, ...item('ws') }),
        { ...result('s', { type: 'json', value: { found: ['a'] } }), ...item('ws') },
        { type: 'source', source: { sourceType: 'url', id: 'x', url: 'https://a.example' } },
        { type: 'text', text: 'found' },
        { type: 'custom', kind: 'openai.compaction', ...item('c') },
      ]),
      userMessage('more'),
    ],
  ],
  [
    'empty texts',
    [
      userMessage([
        { type: 'text', text: '' },
        { type: 'text', text: 'a' },
      ]),
      assistantMessage([
        { type: 'text', text: '' },
        { type: 'text', text: '', ...signed },
        { type: 'text', text: 'b' },
      ]),
      userMessage('c'),
    ],
  ],
  [
    'files of a user',
    [
      userMessage([
        {
          type: 'file',
          mediaType: 'image/png',
          data: { type: 'data', data: png },
          filename: 'a.png',
          ...signed,
        },
        { type: 'file', mediaType: 'image/jpeg', data: { type: 'data', data: png } },
        { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'JVBERi0x' } },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://a.example/a.png' } },
        { type: 'file', mediaType: 'image/*', data: { type: 'url', url: `data:image/png;base64,${png}` } },
        {
          type: 'file',
          mediaType: 'application/pdf',
          data: { type: 'reference', reference: { openai: 'file-1' } },
        },
        { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'abc' } },
      ]),
    ],
  ],
  [
    'a file of a model',
    [
      userMessage('draw'),
      assistantMessage([
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png }, ...signed },
      ]),
      userMessage('again'),
    ],
  ],
];

describe('a model receives the prompt that the AI SDK would send', () => {
  test.each(conversations)('%s', async (_, messages, systemPrompt) => {
    expect(await ourPrompt(messages, systemPrompt)).toEqual(await theirPrompt(messages, systemPrompt));
  });
});

describe('a response is sent back as the AI SDK would send it', () => {
  const contents: Awaited<ReturnType<LanguageModelV4['doGenerate']>>['content'][] = [
    [
      { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 's' } } },
      {
        type: 'reasoning',
        text: '',
        providerMetadata: { openai: { itemId: 'rs', reasoningEncryptedContent: null } },
      },
      { type: 'source', sourceType: 'url', id: 'x', url: 'https://a.example' },
      { type: 'text', text: '', providerMetadata: { google: { thoughtSignature: 't' } } },
      { type: 'text', text: '' },
      { type: 'text', text: 'done', providerMetadata: { openai: { itemId: 'm' } } },
    ],
    [
      {
        type: 'tool-call',
        toolCallId: 's',
        toolName: 'search',
        input: '{"q":"a"}',
        providerExecuted: true,
        dynamic: true,
      },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', result: { found: 1 } },
      {
        type: 'tool-call',
        toolCallId: 't',
        toolName: 'search',
        input: '',
        providerExecuted: true,
        dynamic: true,
      },
      { type: 'tool-result', toolCallId: 't', toolName: 'search', result: 'gone', isError: true },
      { type: 'text', text: 'found' },
    ],
    [
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'data', data: png },
        providerMetadata: { google: { thoughtSignature: 't' } },
      },
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'data', data: new Uint8Array(Buffer.from(png, 'base64')) },
      },
      { type: 'custom', kind: 'x.y', providerMetadata: { x: { z: 1 } } },
    ],
  ];
  test.each(contents.map((content) => [content.map(({ type }) => type).join(', '), content] as const))(
    '%s',
    async (_, content) => {
      const speaker = new MockLanguageModelV4({ doGenerate: async () => answer(structuredClone(content)) });
      const response = await aiSdkDriver({ model: speaker }).infer(request([userMessage('q')]), quietly());
      const ours = await ourPrompt([
        userMessage('q'),
        assistantMessage(response.content ?? []),
        userMessage('next'),
      ]);

      const { responseMessages } = await generateText({ model: speaker, prompt: 'q', maxRetries: 0 });
      const mock = model();
      await generateText({
        model: mock,
        messages: [{ role: 'user', content: 'q' }, ...responseMessages, { role: 'user', content: 'next' }],
      });
      expect(ours).toEqual(promptOf(mock));
    },
  );
});
