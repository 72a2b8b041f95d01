import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { AgentState, createAgentLoop, userMessage } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  answer,
  apiError,
  finish,
  listening,
  quietly,
  rejection,
  request,
  stream,
  textParts,
  unfinishedStream,
  usage,
} from '../builders.ts';

const hello = request([userMessage('hello')]);
const never = new Promise<never>(() => undefined);
const wait = async (): Promise<void> => undefined;
const filtered = { unified: 'content-filter', raw: 'refusal' } as const;

describe('timeouts', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('a call that takes too long is aborted and tried again', async () => {
    const signals: AbortSignal[] = [];
    const model = new MockLanguageModelV4({
      doGenerate: async ({ abortSignal }) => {
        signals.push(abortSignal as AbortSignal);
        return signals.length === 1 ? never : answer('hi');
      },
    });
    const pending = aiSdkDriver({ model, wait, timeouts: { callSeconds: 10 } }).infer(hello, quietly());
    await vi.advanceTimersByTimeAsync(9_999);
    expect(signals).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await pending).toMatchObject({ text: 'hi' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a limit begins anew after a sleep of the machine', async () => {
    let now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    const signals: (AbortSignal | undefined)[] = [];
    const model = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) => (signals.push(abortSignal), never),
    });
    const driver = aiSdkDriver({ model, maxRetries: 0, timeouts: { callSeconds: 10 } });
    const failed = rejection(driver.infer(hello, quietly()));
    const pass = (milliseconds: number, sleep = 0): Promise<unknown> => {
      now += milliseconds + sleep;
      return vi.advanceTimersByTimeAsync(milliseconds);
    };
    await pass(10_000, 3_600_000);
    await pass(9_999);
    expect(signals[0]?.aborted).toBe(false);
    await pass(1);
    expect(await failed).toMatchObject({ kind: 'timeout' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('the first piece must arrive in time, however the stream begins', async () => {
    const { stream: silent } = unfinishedStream([
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '0' },
    ]);
    const model = new MockLanguageModelV4({ doStream: { stream: silent } });
    const timeouts = { firstChunkSeconds: 5 };
    const failed = rejection(aiSdkDriver({ model, maxRetries: 0, timeouts }).infer(hello, listening()));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await failed).toMatchObject({ kind: 'timeout', isRetryable: true, partialResponse: undefined });
  });

  test('a pause between pieces ends the attempt, and keeps the text and the usage', async () => {
    const begun = textParts('half').slice(0, 2);
    const raw = { type: 'message_start', message: { usage: { input_tokens: 7 } } };
    const { stream: stuck } = unfinishedStream([{ type: 'raw', rawValue: raw }, ...begun]);
    const model = new MockLanguageModelV4({ provider: 'anthropic.messages', doStream: { stream: stuck } });
    const driver = aiSdkDriver({ model, wait, timeouts: { firstChunkSeconds: 1, chunkSeconds: 3 } });
    const failed = rejection(driver.infer(hello, listening()));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await failed).toMatchObject({
      kind: 'timeout',
      data: { attempts: 1 },
      partialResponse: { text: 'half', usage: { inputTokens: 7, outputTokens: undefined } },
    });
  });

  test('the caller can still abort', async () => {
    const controller = new AbortController();
    const model = new MockLanguageModelV4({ doGenerate: () => never });
    const driver = aiSdkDriver({ model, timeouts: { callSeconds: 10 } });
    const failed = rejection(driver.infer(hello, quietly(controller.signal)));
    controller.abort(new Error('enough'));
    expect(await failed).toHaveProperty('message', 'enough');
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    [{ callSeconds: 0 }, 'callSeconds of timeouts must be a number of seconds above 0, found number 0.'],
    [{ seconds: 1 }, 'timeouts has no option "seconds"'],
    [5, 'timeouts of aiSdkDriver must be an object of seconds above 0, as in timeouts: { callSeconds: 300'],
  ])('%j is refused', (timeouts, message) => {
    expect(() => aiSdkDriver({ timeouts: timeouts as never })).toThrow(message);
  });
});

describe('headers', () => {
  test('may be a function of the call', async () => {
    const model = new MockLanguageModelV4({
      provider: 'p',
      modelId: 'm',
      doGenerate: async () => answer('hi'),
    });
    const driver = aiSdkDriver({
      model,
      headers: async ({ model: called, run }) => ({
        'x-model': called.modelId,
        'x-tenant': (run?.runContext as { tenant: string } | undefined)?.tenant,
        'x-none': undefined,
      }),
    });
    const runContext = { tenant: 'acme' };
    await createAgentLoop({ driver }).run(AgentState.empty().withUserMessage('hello'), { runContext });
    expect(model.doGenerateCalls[0]?.headers).toMatchObject({ 'x-model': 'm', 'x-tenant': 'acme' });
  });

  test('of a function stay secret in errors', async () => {
    const error = apiError(400, { message: 'no access for tenant-secret-1' });
    const model = new MockLanguageModelV4({ doGenerate: () => Promise.reject(error) });
    const driver = aiSdkDriver({ model, headers: () => ({ 'x-tenant': 'tenant-secret-1' }) });
    const failed = await rejection(driver.infer(hello, quietly()));
    expect(failed).toHaveProperty('message', expect.stringContaining('no access for [redacted]'));
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no tenant')), 'The function "headers" of the driver failed.'],
    ['returns no headers', () => 7, 'must return an object of strings'],
  ])('of a function that %s end the call before it is made', async (_, headers, message) => {
    const model = new MockLanguageModelV4({ doGenerate: async () => answer('hi') });
    const driver = aiSdkDriver({ model, headers: headers as never });
    const failed = await rejection(driver.infer(hello, quietly()));
    expect(failed).toMatchObject({ kind: 'invalidRequest', data: { attempts: 0 } });
    expect(failed).toHaveProperty('message', expect.stringContaining(message));
    expect(model.doGenerateCalls).toHaveLength(0);
  });
});

describe('headers that are not an object of strings', () => {
  test.each([
    ['Headers', new Headers({ 'x-a': 'b' })],
    ['a Map', new Map([['x-a', 'b']])],
  ])('%s is refused, because its entries would get lost', async (_, headers) => {
    expect(() => aiSdkDriver({ headers: headers as never })).toThrow('an object of strings or a function');
    const driver = aiSdkDriver({ model: new MockLanguageModelV4(), headers: () => headers as never });
    expect(await rejection(driver.infer(hello, quietly()))).toMatchObject({ kind: 'invalidRequest' });
  });
});

test('a stream that fails for a lost item after its first text is not repeated', async () => {
  const gone: LanguageModelV4StreamPart = {
    type: 'error',
    error: { message: "Item with id 'rs_1' not found." },
  };
  const model = new MockLanguageModelV4({
    doStream: async () => stream([...textParts('half').slice(0, 2), gone]),
  });
  const inference = listening();
  const failed = await rejection(aiSdkDriver({ model, wait }).infer(hello, inference));
  expect(failed).toMatchObject({ partialResponse: { text: 'half' } });
  expect([model.doStreamCalls, inference.deltas].map(({ length }) => length)).toEqual([1, 1]);
});

describe('the HTTP response', () => {
  const headers = { 'X-Request-Id': 'req_1', 'x-ratelimit-remaining-tokens': '9', 'set-cookie': 'secret' };
  const facts = { requestId: 'req_1', responseHeaders: { 'x-ratelimit-remaining-tokens': '9' } };

  test('leaves its request id and the chosen headers in the response', async () => {
    const model = new MockLanguageModelV4({
      doGenerate: answer('hi', { response: { headers } }),
      doStream: { ...stream([...textParts('hi'), finish]), response: { headers } },
    });
    const driver = aiSdkDriver({ model, responseHeaders: ['X-RateLimit-Remaining-Tokens'] });
    for (const inference of [quietly(), listening()]) {
      const response = await driver.infer(hello, inference);
      expect(response).toMatchObject(facts);
      expect(response.responseHeaders).toEqual(facts.responseHeaders);
    }
  });

  test('leaves its request id in the error', async () => {
    const error = apiError(400, { headers: { 'request-id': 'req_2' } });
    const model = new MockLanguageModelV4({ doGenerate: () => Promise.reject(error) });
    expect(await rejection(aiSdkDriver({ model }).infer(hello, quietly()))).toMatchObject({
      data: { requestId: 'req_2' },
    });
  });
});

describe('a refusal', () => {
  test('without text is an error with the usage of the call', async () => {
    const model = new MockLanguageModelV4({ doGenerate: answer([], { finishReason: filtered }) });
    expect(await rejection(aiSdkDriver({ model, wait }).infer(hello, quietly()))).toMatchObject({
      kind: 'contentFiltered',
      data: { attempts: 1, isRetryable: false },
      partialResponse: { usage: { inputTokens: 3 } },
    });
  });

  test('with text is a response that the application can read', async () => {
    const parts: LanguageModelV4StreamPart[] = [
      ...textParts('I cannot help with that.'),
      { type: 'finish', finishReason: filtered, usage },
    ];
    const model = new MockLanguageModelV4({ doStream: stream(parts) });
    const response = await aiSdkDriver({ model }).infer(hello, listening());
    expect(response).toMatchObject({ text: 'I cannot help with that.', finishReason: 'content-filter' });
  });
});

describe('what cannot be converted', () => {
  test.each([
    [
      'an unknown reasoning level',
      { reasoning: 'extreme' },
      'Unknown reasoning level "extreme". Known levels:',
    ],
  ])('%s is refused before the call', async (_, llmConfig, message) => {
    const model = new MockLanguageModelV4({ doGenerate: answer('hi') });
    const failed = await rejection(aiSdkDriver({ model }).infer({ ...hello, llmConfig }, quietly()));
    expect(failed).toMatchObject({ code: 'DRIVER_INVALID_REQUEST' });
    expect(failed).toHaveProperty('message', expect.stringContaining(message));
    expect(model.doGenerateCalls).toHaveLength(0);
  });

  test('a response without the expected form is an error with a code', async () => {
    const model = new MockLanguageModelV4({ doGenerate: answer([], { content: undefined as never }) });
    expect(await rejection(aiSdkDriver({ model }).infer(hello, quietly()))).toMatchObject({
      code: 'DRIVER_BROKEN_ANSWER',
    });
  });
});

describe('usage', () => {
  test('that arrived before an abort is counted, also without content', async () => {
    const raw = { usageMetadata: { promptTokenCount: 5, thoughtsTokenCount: 2 } };
    const controller = new AbortController();
    const { stream: stuck } = unfinishedStream([
      { type: 'raw', rawValue: raw },
      { type: 'tool-input-start', id: 'c', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c', delta: '{' },
    ]);
    const model = new MockLanguageModelV4({ provider: 'google.generative-ai', doStream: { stream: stuck } });
    const response = await aiSdkDriver({ model }).infer(hello, {
      signal: controller.signal,
      onDelta: () => controller.abort(),
    });
    expect(model.doStreamCalls[0]?.includeRawChunks).toBe(true);
    expect(response).toMatchObject({
      content: [],
      finishReason: 'aborted',
      usage: { inputTokens: 5, outputTokens: 2, reasoningTokens: 2 },
    });
  });

  test.each([
    ['the gateway', { gateway: { cost: '0.0025' } }],
    ['OpenRouter', { openrouter: { usage: { cost: 0.0025 } } }],
    ['xAI', { xai: { costInUsdTicks: 25_000_000 } }],
  ])('has the cost that %s reports', async (_, providerMetadata) => {
    const model = new MockLanguageModelV4({ doGenerate: answer('hi', { providerMetadata }) });
    const response = await aiSdkDriver({ model }).infer(hello, quietly());
    expect(response.usage).toMatchObject({ cost: 0.0025, unpricedCalls: 0, inputTokens: 3 });
  });

  test('of zero tokens is unknown', async () => {
    const zero = {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    };
    const model = new MockLanguageModelV4({ doGenerate: answer('hi', { usage: zero }) });
    const response = await aiSdkDriver({ model }).infer(hello, quietly());
    expect(response.usage).toMatchObject({ inputTokens: undefined, unreportedCalls: 1 });
  });
});

test('a registry may change the model of an id', async () => {
  const models = ['first', 'second'].map((text) => new MockLanguageModelV4({ doGenerate: answer(text) }));
  const driver = aiSdkDriver({ registry: { languageModel: () => models.shift() as MockLanguageModelV4 } });
  const asked = { ...hello, llmConfig: { model: 'a' } };
  expect(await driver.infer(asked, quietly())).toMatchObject({ text: 'first' });
  expect(await driver.infer(asked, quietly())).toMatchObject({ text: 'second' });
});
