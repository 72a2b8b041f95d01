import type {
  LanguageModelV2,
  LanguageModelV2StreamPart,
  LanguageModelV3Content,
  LanguageModelV3StreamPart,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { convertArrayToReadableStream, convertReadableStreamToArray, MockLanguageModelV3 } from 'ai/test';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { upgradeModel, type EarlierModel } from '../../src/models/upgrade-model.ts';
import { stop, usage } from '../builders.ts';

const bytes = new Uint8Array([1, 2, 3]);
const options = { provider: { cache: true } };
const file = { type: 'file', mediaType: 'image/png', filename: 'a.png', providerOptions: options } as const;
const url = new URL('https://example.com/a.png');

/** A prompt with a file of each kind at each position. */
const prompt: LanguageModelV4Prompt = [
  { role: 'system', content: 'be brief', providerOptions: options },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'hi' },
      { ...file, data: { type: 'data', data: bytes } },
      { ...file, data: { type: 'data', data: 'AQID' } },
      { ...file, data: { type: 'url', url } },
      { ...file, data: { type: 'reference', reference: { openai: 'file-1' } } },
      { ...file, data: { type: 'text', text: 'abc' } },
    ],
    providerOptions: options,
  },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', providerOptions: options },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
      { type: 'custom', kind: 'openai.compaction' },
      { type: 'tool-call', toolCallId: '1', toolName: 'add', input: { a: 1 } },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: '1', toolName: 'add', output: { type: 'json', value: 2 } },
      {
        type: 'tool-result',
        toolCallId: '2',
        toolName: 'draw',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'see' },
            { ...file, data: { type: 'data', data: bytes } },
            { ...file, data: { type: 'data', data: 'AQID' } },
            { ...file, data: { type: 'url', url } },
            { ...file, data: { type: 'reference', reference: { openai: 'file-1' } } },
            { ...file, data: { type: 'text', text: 'abc' } },
            { type: 'custom', providerOptions: options },
          ],
        },
      },
    ],
  },
];
const callOptions: LanguageModelV4CallOptions = { prompt, temperature: 0.5, reasoning: 'high' };

const content: LanguageModelV3Content[] = [
  { type: 'text', text: 'done' },
  { type: 'file', mediaType: 'image/png', data: 'AQID' },
  { type: 'file', mediaType: 'image/png', data: bytes },
  { type: 'tool-call', toolCallId: '3', toolName: 'search', input: '{}', providerExecuted: true },
  { type: 'tool-result', toolCallId: '3', toolName: 'search', result: { found: 1 } },
];
const v2Usage = { inputTokens: 3, cachedInputTokens: 1, outputTokens: 2, reasoningTokens: 1, totalTokens: 5 };

function modelV2(finishReason: 'stop' | 'unknown'): { model: LanguageModelV2; calls: unknown[] } {
  const calls: unknown[] = [];
  const parts: LanguageModelV2StreamPart[] = [
    { type: 'stream-start', warnings: [{ type: 'other', message: 'slow' }] },
    { type: 'text-delta', id: '0', delta: 'done' },
    { type: 'file', mediaType: 'image/png', data: 'AQID' },
    { type: 'finish', finishReason, usage: v2Usage },
  ];
  const model: LanguageModelV2 = {
    specificationVersion: 'v2',
    provider: 'old',
    modelId: 'older',
    supportedUrls: { 'image/*': [/^https:/] },
    async doGenerate(called) {
      calls.push(called);
      const text = { type: 'text', text: 'done' } as const;
      const image = { type: 'file', mediaType: 'image/png', data: bytes } as const;
      return { content: [text, image], finishReason, usage: v2Usage, warnings: [] };
    },
    async doStream(called) {
      calls.push(called);
      return { stream: convertArrayToReadableStream(parts), response: { headers: { a: 'b' } } };
    },
  };
  return { model, calls };
}

function modelV3(): { model: MockLanguageModelV3; calls: unknown[] } {
  const calls: unknown[] = [];
  const parts: LanguageModelV3StreamPart[] = [
    { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'seed' }] },
    { type: 'text-delta', id: '0', delta: 'done' },
    { type: 'file', mediaType: 'image/png', data: bytes },
    { type: 'tool-result', toolCallId: '3', toolName: 'search', result: { found: 1 } },
    { type: 'finish', finishReason: stop, usage },
  ];
  const model = new MockLanguageModelV3({
    supportedUrls: { 'image/*': [/^https:/] },
    doGenerate: async (called) => {
      calls.push(called);
      return { content, finishReason: stop, usage, warnings: [{ type: 'other', message: 'slow' }] };
    },
    doStream: async (called) => {
      calls.push(called);
      return { stream: convertArrayToReadableStream(parts), request: { body: 'x' } };
    },
  });
  return { model, calls };
}

const kinds: [string, () => { model: EarlierModel; calls: unknown[] }][] = [
  ['of specification V2', () => modelV2('stop')],
  ['of specification V2, for an unknown reason', () => modelV2('unknown')],
  ['of specification V3', modelV3],
];

/** The AI SDK warns of each V2 model. */
beforeEach(() => void vi.stubGlobal('AI_SDK_LOG_WARNINGS', false));
afterEach(() => void vi.unstubAllGlobals());

/** All results and call options of a model that a caller can observe. */
async function exchange(model: ReturnType<typeof upgradeModel>) {
  const { specificationVersion, provider, modelId } = model;
  const generated = await model.doGenerate(callOptions);
  const { stream, ...rest } = await model.doStream(callOptions);
  const parts = await convertReadableStreamToArray(stream);
  return {
    specificationVersion,
    provider,
    modelId,
    urls: await model.supportedUrls,
    generated,
    rest,
    parts,
  };
}

describe('an upgraded model receives and returns the same as a model that the AI SDK upgraded', () => {
  test.each(kinds)('%s', async (_, create) => {
    const [ours, theirs] = [create(), create()];
    const exchanged = await exchange(upgradeModel(ours.model));
    const expected = await exchange(wrapLanguageModel({ model: theirs.model, middleware: [] }));
    expect(exchanged).toEqual(expected);
    const { specificationVersion } = ours.model;
    expect(ours.calls).toEqual(theirs.calls.map((sent) => withOwnKinds(sent, specificationVersion)));
    expect(ours.calls).toHaveLength(2);
  });
});

/** The kinds of V3 for an image in a result. */
const IMAGE_KINDS: Readonly<Record<string, string>> = {
  'file-data': 'image-data',
  'file-url': 'image-url',
  'file-id': 'image-file-id',
};

/**
 * The call with files of results in the kinds of its specification. The AI SDK sends the kinds of V3 to V2 too, and images as
 * other files: packages of providers drop them.
 */
function withOwnKinds(value: unknown, version: 'v2' | 'v3', isResult = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withOwnKinds(item, version, isResult));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  const part = value as { readonly type?: string; readonly data?: unknown; readonly url?: unknown };
  const isText =
    isResult && part.type === 'file' && (part.data as { readonly type?: string }).type === 'text';
  if (isText && version === 'v2') return part.data;
  const image = IMAGE_KINDS[part.type ?? ''];
  if (image === undefined)
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        withOwnKinds(member, version, isResult || name === 'output'),
      ]),
    );
  if (version === 'v2' && part.type === 'file-data')
    return { type: 'media', data: part.data, mediaType: 'image/png' };
  if (version === 'v2') return { type: 'text', text: part.url ?? '[A file of the type image/png]' };
  const { filename: _filename, ...rest } = value as { readonly filename?: unknown };
  return { ...rest, type: image };
}

test('the warnings of a V2 model are converted to V4', async () => {
  const { model } = modelV2('stop');
  const tool = { type: 'function', name: 'add', inputSchema: {} } as const;
  model.doGenerate = async () => ({
    content: [],
    finishReason: 'stop',
    usage: v2Usage,
    warnings: [
      { type: 'unsupported-setting', setting: 'seed', details: 'no' },
      { type: 'unsupported-tool', tool },
      { type: 'other', message: 'slow' },
    ],
  });
  const { warnings } = await upgradeModel(model).doGenerate(callOptions);
  expect(warnings).toEqual([
    { type: 'unsupported', feature: 'seed', details: 'no' },
    { type: 'unsupported', feature: 'tool add' },
    { type: 'other', message: 'slow' },
  ]);
});

test('the V2 reason `other` is a finish reason, and `unknown` means no reason', async () => {
  const reasons = (['other', 'unknown'] as const).map(async (finishReason) => {
    const { model } = modelV2('stop');
    model.doGenerate = async () => ({ content: [], finishReason, usage: v2Usage, warnings: [] });
    return (await upgradeModel(model).doGenerate(callOptions)).finishReason;
  });
  expect(await Promise.all(reasons)).toEqual([
    { unified: 'other', raw: 'other' },
    { unified: 'other', raw: undefined },
  ]);
});

test('a response without usage and warnings is read', async () => {
  const { model } = modelV2('stop');
  model.doGenerate = async () => ({ content: [], finishReason: 'stop' }) as never;
  expect(await upgradeModel(model).doGenerate(callOptions)).toMatchObject({ content: [], warnings: [] });
});

test('a cancelled stream of an upgraded model cancels the stream of the model', async () => {
  const cancelled = Promise.withResolvers<unknown>();
  const { model } = modelV2('stop');
  model.doStream = async () => ({ stream: new ReadableStream({ cancel: cancelled.resolve }) });
  const { stream } = await upgradeModel(model).doStream(callOptions);
  await stream.cancel('enough');
  expect(await cancelled.promise).toBe('enough');
});
