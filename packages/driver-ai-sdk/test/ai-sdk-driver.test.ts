import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4Warning } from '@ai-sdk/provider';
import { aiSdkDriver, AiSdkDriverError } from '@holdfast/driver-ai-sdk';
import {
  AgentState,
  assistantMessage,
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  Usage,
  userMessage,
  type AgentEvent,
  type Message,
  type ModelPrices,
} from '@holdfast/core';
import { InferenceResponse, toolMessage, type ToolResultPart } from '@holdfast/core/driver';
import { getEventListeners } from 'node:events';
import { customProvider, createProviderRegistry } from 'ai';
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test, vi } from 'vitest';
import {
  answer,
  apiError,
  finish,
  listening,
  quietly,
  rejection,
  request,
  stop,
  stream,
  textParts,
  unfinishedStream,
  usage,
} from './builders.ts';

const hello = request([userMessage('hello')]);
const never = new Promise<never>(() => undefined);

function streaming(...parts: LanguageModelV4StreamPart[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({ doStream: async () => stream(parts) });
}

describe('a call', () => {
  test('generates without a listener', async () => {
    const model = new MockLanguageModelV4({ modelId: 'm', doGenerate: answer('hi') });
    const response = await aiSdkDriver({ model }).infer(hello, quietly());
    expect(response).toBeInstanceOf(InferenceResponse);
    expect(response).toMatchObject({
      text: 'hi',
      finishReason: 'stop',
      modelId: 'm',
      usage: { inputTokens: 3 },
    });
    expect(model.doStreamCalls).toHaveLength(0);
  });

  test('streams with a listener, and returns the same response', async () => {
    const model = streaming({ type: 'stream-start', warnings: [] }, ...textParts('Hel', 'lo'), finish);
    const listener = listening();
    const response = await aiSdkDriver({ model }).infer(hello, listener);
    const generated = await aiSdkDriver({
      model: new MockLanguageModelV4({ doGenerate: answer('Hello') }),
    }).infer(hello, quietly());
    expect(response).toEqual(generated);
    expect(listener.deltas.map(({ text }) => text)).toEqual(['Hel', 'lo']);
    expect(model.doGenerateCalls).toHaveLength(0);
  });

  test('sends the whole request', async () => {
    const model = new MockLanguageModelV4({ doGenerate: answer('hi') });
    const { signal } = new AbortController();
    const tool = { name: 'add', description: 'adds', inputSchema: { type: 'object' } };
    await aiSdkDriver({ model, headers: { 'x-team': 'a' } }).infer(
      request([userMessage('hello')], {
        systemPrompt: 'be brief',
        tools: [tool],
        toolChoice: 'required',
        responseFormat: { type: 'json' },
        llmConfig: { temperature: 0.5 },
      }),
      quietly(signal),
    );
    expect(model.doGenerateCalls).toStrictEqual([
      {
        prompt: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: [{ type: 'text', text: 'hello' }] },
        ],
        tools: [{ type: 'function', ...tool }],
        toolChoice: { type: 'required' },
        responseFormat: { type: 'json' },
        temperature: 0.5,
        headers: { 'x-team': 'a' },
        abortSignal: signal,
      },
    ]);
  });

  test('goes to the model that the model settings name', async () => {
    const [small, large] = ['small', 'large'].map((modelId) => {
      return new MockLanguageModelV4({ modelId, doGenerate: async () => answer(modelId) });
    });
    const provider = customProvider({ languageModels: { large: large as LanguageModelV4 } });
    const driver = aiSdkDriver({
      model: small as LanguageModelV4,
      registry: createProviderRegistry({ mock: provider }),
    });
    const texts = [undefined, { model: 'mock:large' }, { temperature: 1 }].map(async (llmConfig) => {
      return InferenceResponse.of(await driver.infer({ ...hello, llmConfig }, quietly())).text;
    });
    expect(await Promise.all(texts)).toEqual(['small', 'large', 'small']);
  });

  test('reaches models of specification V3, with and without a stream', async () => {
    const model = new MockLanguageModelV3({
      doGenerate: answer([{ type: 'file', mediaType: 'image/png', data: 'AAEC' } as never]) as never,
      doStream: stream([...textParts('hi'), finish]) as never,
    });
    const driver = aiSdkDriver({ model });
    const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } } as const;
    expect(await driver.infer(request([userMessage([file])]), quietly())).toMatchObject({
      content: [file],
      usage: { inputTokens: 3 },
    });
    expect(await driver.infer(hello, listening())).toMatchObject({ text: 'hi' });
    expect(model.doGenerateCalls[0]?.prompt[0]).toMatchObject({ content: [{ type: 'file', data: 'AAEC' }] });
  });

  test('sends the metadata of a provider back, on the same part and in the same order', async () => {
    const anthropic = { signature: 'sig' };
    const openai = { itemId: 'rs', reasoningEncryptedContent: 'enc' };
    const model = new MockLanguageModelV4({
      doGenerate: [
        answer([
          { type: 'reasoning', text: 'hm', providerMetadata: { anthropic } },
          { type: 'reasoning', text: '', providerMetadata: { openai } },
          {
            type: 'tool-call',
            toolCallId: '1',
            toolName: 'add',
            input: '{"a":1}',
            providerMetadata: { openai: { itemId: 'fc' } },
          },
        ]),
        answer('2'),
      ],
    });
    const driver = aiSdkDriver({ model });
    const { content } = InferenceResponse.of(await driver.infer(hello, quietly()));
    const result: ToolResultPart = {
      type: 'tool-result',
      toolCallId: '1',
      toolName: 'add',
      output: { type: 'json', value: 2 },
    };
    await driver.infer(
      request([...hello.messages, assistantMessage(content), toolMessage([result])]),
      quietly(),
    );
    expect(model.doGenerateCalls[1]?.prompt[1]).toStrictEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', providerOptions: { anthropic } },
        { type: 'reasoning', text: '', providerOptions: { openai } },
        {
          type: 'tool-call',
          toolCallId: '1',
          toolName: 'add',
          input: { a: 1 },
          providerOptions: { openai: { itemId: 'fc' } },
        },
      ],
    });
  });

  test('converts added messages only: a message is the same object in every prompt', async () => {
    const model = new MockLanguageModelV4({ doGenerate: async () => answer('hi') });
    const driver = aiSdkDriver({ model });
    let { messages } = request(Array.from({ length: 500 }, (_, index): Message => userMessage(`${index}`)));
    for (let step = 0; step < 4; step++) {
      await driver.infer(request(messages), quietly());
      messages = messages.append(userMessage('next'));
    }
    const prompts = model.doGenerateCalls.map(({ prompt }) => prompt);
    const converted = new Set(prompts.flat());
    expect(prompts.map(({ length }) => length)).toEqual([500, 501, 502, 503]);
    expect(converted.size).toBe(503);
  });

  test('is not affected by a model that changes its call options', async () => {
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt, tools }) => {
        prompt.splice(0, prompt.length, { role: 'user', content: [] });
        tools?.pop();
        return answer('hi');
      },
    });
    const driver = aiSdkDriver({ model });
    const full = { ...hello, tools: [{ name: 'a', description: '', inputSchema: {} }] };
    const prompts: unknown[] = [];
    for (let count = 0; count < 2; count++) await driver.infer(full, quietly());
    const observer = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => (prompts.push(...prompt), answer('')),
    });
    await aiSdkDriver({ model: observer }).infer(full, quietly());
    expect(prompts).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hello' }] }]);
  });

  test('marks prompts for the cache with promptCache "auto"', async () => {
    const model = new MockLanguageModelV4({ provider: 'anthropic.messages', doGenerate: answer('hi') });
    await aiSdkDriver({ model, promptCache: 'auto' }).infer(hello, quietly());
    expect(model.doGenerateCalls[0]?.prompt[0]?.providerOptions).toEqual({
      anthropic: { cacheControl: { type: 'ephemeral' } },
    });
  });

  test('downloads a file that the model cannot fetch, and reports a failed download', async () => {
    const model = new MockLanguageModelV4({ doGenerate: async () => answer('hi') });
    const picture = userMessage([
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'url', url: 'https://a.example/a.png?sig=secret' },
      },
    ]);
    const works = aiSdkDriver({ model, download: async () => ({ data: new Uint8Array([1]) }) });
    await works.infer(request([picture]), quietly());
    expect(model.doGenerateCalls[0]?.prompt[0]).toMatchObject({ content: [{ data: { type: 'data' } }] });
    const fails = aiSdkDriver({ model, download: ({ url }) => Promise.reject(new Error(`no ${url.href}`)) });
    const error = await rejection(fails.infer(request([picture]), quietly()));
    expect(error).toMatchObject({ code: 'DRIVER_INVALID_REQUEST', data: { attempts: 0 } });
    expect(error).toHaveProperty('message', expect.stringContaining('no https://a.example/a.png?[redacted]'));
  });
});

describe('warnings', () => {
  const warning: SharedV4Warning = { type: 'unsupported', feature: 'topK' };
  const models = (): MockLanguageModelV4 =>
    new MockLanguageModelV4({
      provider: 'p',
      modelId: 'm',
      doGenerate: async () => answer('hi', { warnings: [warning] }),
      doStream: async () =>
        stream([{ type: 'stream-start', warnings: [warning] }, ...textParts('hi'), finish]),
    });

  test('go to the listener only, each distinct warning once', async () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const heard: unknown[] = [];
    const driver = aiSdkDriver({ model: models(), onWarning: (...told) => void heard.push(told) });
    await driver.infer(hello, quietly());
    await driver.infer(hello, listening());
    await aiSdkDriver({ model: models() }).infer(hello, quietly());
    expect(heard).toEqual([[warning, { provider: 'p', modelId: 'm' }]]);
    expect(emitWarning).not.toHaveBeenCalled();
    emitWarning.mockRestore();
  });

  test('do not affect the call when the listener throws', async () => {
    const onWarning = (): never => {
      throw new Error('listener');
    };
    expect(await aiSdkDriver({ model: models(), onWarning }).infer(hello, quietly())).toMatchObject({
      text: 'hi',
    });
  });
});

describe('retries', () => {
  function failing(
    times: number,
    error: unknown = apiError(429),
  ): { model: MockLanguageModelV4; waits: number[] } {
    let calls = 0;
    const attempt = <T>(result: T): T => {
      if (calls++ < times) throw error;
      return result;
    };
    const model = new MockLanguageModelV4({
      provider: 'p',
      modelId: 'm',
      doGenerate: async () => attempt(answer('hi')),
      doStream: async () => attempt(stream([...textParts('hi'), finish])),
    });
    return { model, waits: [] };
  }

  test.each([
    ['generate', quietly],
    ['stream', listening],
  ])('%s is called again after a temporary error', async (_, inference) => {
    const { model, waits } = failing(2);
    const driver = aiSdkDriver({ model, wait: async (seconds) => void waits.push(seconds) });
    expect(await driver.infer(hello, inference())).toMatchObject({ text: 'hi' });
    expect(waits).toEqual([2, 4]);
    const calls = [...model.doGenerateCalls, ...model.doStreamCalls];
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ prompt }) => prompt)).size).toBe(3);
  });

  test('end with an error that has the number of attempts', async () => {
    const { model } = failing(9);
    const driver = aiSdkDriver({ model, maxRetries: 4, wait: async () => undefined });
    const error = await rejection(driver.infer(hello, quietly()));
    expect(error).toBeInstanceOf(AiSdkDriverError);
    expect(error).toMatchObject({
      data: { provider: 'p', modelId: 'm', statusCode: 429, isRetryable: true, attempts: 5 },
    });
  });

  test('do not follow a permanent error', async () => {
    const { model } = failing(1, apiError(400));
    const error = await rejection(aiSdkDriver({ model }).infer(hello, quietly()));
    expect(error).toMatchObject({
      data: { statusCode: 400, isRetryable: false, attempts: 1 },
      partialResponse: undefined,
    });
  });

  test('follow a stream that failed before its first part, but not a stream that failed later', async () => {
    const early: LanguageModelV4StreamPart[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'error', error: apiError(503) },
    ];
    const late: LanguageModelV4StreamPart[] = [
      { type: 'tool-input-start', id: 'c', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c', delta: '{' },
      { type: 'error', error: apiError(503) },
    ];
    const wait = async (): Promise<void> => undefined;
    const works = new MockLanguageModelV4({ doStream: [early, [...textParts('hi'), finish]].map(stream) });
    expect(await aiSdkDriver({ model: works, wait }).infer(hello, listening())).toMatchObject({ text: 'hi' });
    const fails = new MockLanguageModelV4({ doStream: [late, textParts('hi')].map(stream) });
    const error = await rejection(aiSdkDriver({ model: fails, wait }).infer(hello, listening()));
    expect(error).toMatchObject({ data: { attempts: 1, isRetryable: true }, partialResponse: undefined });
  });

  test.each([-1, 0.5, Number.NaN])('may not be %d', (maxRetries) => {
    expect(() => aiSdkDriver({ maxRetries })).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });
});

describe('a stream that is interrupted', () => {
  const begun: LanguageModelV4StreamPart[] = [
    { type: 'response-metadata', id: 'r', modelId: 'm' },
    { type: 'text-start', id: '0', providerMetadata: { openai: { itemId: 'gone' } } },
    { type: 'text-delta', id: '0', delta: 'half' },
  ];
  const cut: [string, LanguageModelV4StreamPart[], string][] = [
    ['without a finish part', [], 'The stream ended before the answer did.'],
    ['with an error of the provider', [{ type: 'error', error: { message: 'overloaded' } }], 'overloaded'],
    [
      'with the finish reason "interrupted"',
      [{ type: 'finish', finishReason: { unified: 'interrupted', raw: undefined }, usage: {} as never }],
      'The stream ended before the answer did.',
    ],
    [
      'with the finish reason "other"',
      [{ type: 'finish', finishReason: { unified: 'other', raw: undefined }, usage: {} as never }],
      'The stream ended before the answer did.',
    ],
  ];
  test.each(cut)('%s is an error with the partial response', async (_, end, message) => {
    const error = await rejection(
      aiSdkDriver({ model: streaming(...begun, ...end) }).infer(hello, listening()),
    );
    expect(error).toBeInstanceOf(AiSdkDriverError);
    expect((error as AiSdkDriverError).message).toContain(message);
    expect((error as AiSdkDriverError).message).toContain('(its answer broke off)');
    expect((error as AiSdkDriverError).partialResponse).toBeInstanceOf(InferenceResponse);
    expect((error as AiSdkDriverError).partialResponse?.toJSON()).toStrictEqual({
      content: [{ type: 'text', text: 'half' }],
      finishReason: 'error',
      usage: { unreportedCalls: 1, unpricedCalls: 1 },
      modelId: 'm',
      responseId: 'r',
    });
  });

  test('keeps the usage that was reported', async () => {
    const interrupted: LanguageModelV4StreamPart = {
      type: 'finish',
      finishReason: { unified: 'interrupted', raw: 'x' },
      usage,
    };
    const error = await rejection(
      aiSdkDriver({ model: streaming(...begun, interrupted) }).infer(hello, listening()),
    );
    expect((error as AiSdkDriverError).partialResponse).toMatchObject({
      rawFinishReason: 'x',
      usage: { inputTokens: 3 },
    });
  });

  test('by a lost connection is an error with the partial response', async () => {
    const broken = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) => {
        for (const part of begun) controller.enqueue(part);
      },
      pull: (controller) => controller.error(apiError(500, { message: 'terminated' })),
    });
    const model = new MockLanguageModelV4({ doStream: { stream: broken } });
    const error = await rejection(aiSdkDriver({ model }).infer(hello, listening()));
    expect(error).toMatchObject({
      data: { isRetryable: true, attempts: 1 },
      partialResponse: { text: 'half' },
    });
  });

  test('after its finish part is a complete response', async () => {
    const model = streaming(...textParts('all'), finish, { type: 'error', error: new Error('late') });
    expect(await aiSdkDriver({ model }).infer(hello, listening())).toMatchObject({
      text: 'all',
      finishReason: 'stop',
    });
  });

  test('is cancelled, also when the listener throws', async () => {
    const { stream: source, cancelled } = unfinishedStream(begun);
    const model = new MockLanguageModelV4({ doStream: { stream: source } });
    const failure = new Error('listener');
    const onDelta = (): never => {
      throw failure;
    };
    const { signal } = new AbortController();
    expect(await rejection(aiSdkDriver({ model }).infer(hello, { signal, onDelta }))).toBe(failure);
    await cancelled;
  });
});

describe('an abort', () => {
  const reason = new Error('enough');

  test('before the call prevents the call', async () => {
    const model = new MockLanguageModelV4({ doGenerate: answer('hi') });
    const error = await rejection(aiSdkDriver({ model }).infer(hello, quietly(AbortSignal.abort(reason))));
    expect(error).toBe(reason);
    expect(model.doGenerateCalls).toHaveLength(0);
  });

  test.each([
    ['generate', quietly],
    ['stream', listening],
  ])('ends a %s that ignores the signal', async (_, inference) => {
    const controller = new AbortController();
    const called = Promise.withResolvers<void>();
    const hang = (): Promise<never> => (called.resolve(), never);
    const model = new MockLanguageModelV4({ doGenerate: hang, doStream: hang });
    const pending = rejection(aiSdkDriver({ model }).infer(hello, inference(controller.signal)));
    await called.promise;
    controller.abort(reason);
    expect(await pending).toBe(reason);
  });

  test('ends a call that rejects because of the abort with the reason of the signal', async () => {
    const controller = new AbortController();
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        controller.abort(reason);
        throw new DOMException('aborted', 'AbortError');
      },
    });
    expect(await rejection(aiSdkDriver({ model }).infer(hello, quietly(controller.signal)))).toBe(reason);
  });

  test('ends a stream with the partial response', async () => {
    const controller = new AbortController();
    const { stream: source, cancelled } = unfinishedStream([
      ...textParts('half'),
      { type: 'tool-input-start', id: 'c', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c', delta: '{"a"' },
    ]);
    const model = new MockLanguageModelV4({ doStream: { stream: source } });
    const response = await aiSdkDriver({ model }).infer(hello, {
      signal: controller.signal,
      onDelta: ({ type }) => void (type === 'tool-input' && controller.abort(reason)),
    });
    expect(response).toMatchObject({
      content: [{ type: 'text', text: 'half' }],
      finishReason: 'aborted',
      usage: Usage.unreported,
    });
    expect(await cancelled).toBe(reason);
  });

  test('ends a waiting stream immediately', async () => {
    const controller = new AbortController();
    const { stream: source, cancelled } = unfinishedStream([...textParts('half')]);
    const model = new MockLanguageModelV4({ doStream: { stream: source } });
    const arrived = Promise.withResolvers<void>();
    const pending = aiSdkDriver({ model }).infer(hello, {
      signal: controller.signal,
      onDelta: () => arrived.resolve(),
    });
    await arrived.promise;
    controller.abort(reason);
    expect(await pending).toMatchObject({ text: 'half', finishReason: 'aborted' });
    await cancelled;
  });

  test('of a stream before its first part throws the reason', async () => {
    const controller = new AbortController();
    const { stream: source, cancelled } = unfinishedStream([
      { type: 'stream-start', warnings: [{ type: 'other', message: 'begun' }] },
    ]);
    const model = new MockLanguageModelV4({ doStream: { stream: source } });
    const begun = Promise.withResolvers<void>();
    const driver = aiSdkDriver({ model, onWarning: () => begun.resolve() });
    const pending = rejection(driver.infer(hello, listening(controller.signal)));
    await begun.promise;
    controller.abort(reason);
    expect(await pending).toBe(reason);
    await cancelled;
  });

  test('after the last part does not change the response', async () => {
    const controller = new AbortController();
    const { stream: source } = unfinishedStream([
      { type: 'text-delta', id: '0', delta: 'a' },
      finish,
      { type: 'text-delta', id: '1', delta: 'b' },
    ]);
    const model = new MockLanguageModelV4({ doStream: { stream: source } });
    const response = await aiSdkDriver({ model }).infer(hello, {
      signal: controller.signal,
      onDelta: ({ text }) => void (text === 'b' && controller.abort(reason)),
    });
    expect(response).toMatchObject({ finishReason: stop.unified, usage: { inputTokens: 3 } });
  });

  test('cancels a stream that arrives after it', async () => {
    const controller = new AbortController();
    const called = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>();
    const model = new MockLanguageModelV4({ doStream: () => (called.resolve(), opened.promise) });
    const pending = rejection(aiSdkDriver({ model }).infer(hello, listening(controller.signal)));
    await called.promise;
    controller.abort(reason);
    expect(await pending).toBe(reason);
    const { stream: source, cancelled } = unfinishedStream([]);
    opened.resolve({ stream: source });
    await cancelled;
  });

  test('ends a wait between attempts', async () => {
    const controller = new AbortController();
    const model = new MockLanguageModelV4({ doGenerate: () => Promise.reject(apiError(429)) });
    const wait = async (): Promise<void> => (controller.abort(reason), never);
    expect(await rejection(aiSdkDriver({ model, wait }).infer(hello, quietly(controller.signal)))).toBe(
      reason,
    );
  });

  test('ends a download', async () => {
    const controller = new AbortController();
    const model = new MockLanguageModelV4({ doGenerate: answer('hi') });
    const download = async (): Promise<never> => (controller.abort(reason), never);
    const picture = userMessage([
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://a.example' } },
    ]);
    const pending = aiSdkDriver({ model, download }).infer(request([picture]), quietly(controller.signal));
    expect(await rejection(pending)).toBe(reason);
  });
});

describe('in the state of an agent', () => {
  const start = AgentState.empty().withUserMessage('hello');

  test('an error is readable and contains no secrets', async () => {
    const error = apiError(401, { message: 'Incorrect API key provided: sk-key-secret-1' });
    const model = new MockLanguageModelV4({ modelId: 'm', doGenerate: () => Promise.reject(error) });
    const state = await createAgentLoop({ driver: aiSdkDriver({ model }) }).run(start);
    expect(state.status).toBe('failed');
    expect(state.errors[0]).toMatchObject({
      name: 'AiSdkDriverError',
      code: 'DRIVER_AUTHENTICATION',
      message: expect.stringContaining('(HTTP 401). Check the API key'),
      data: { modelId: 'm', statusCode: 401, isRetryable: false, attempts: 1 },
      cause: { name: 'AI_APICallError' },
    });
    expect(JSON.stringify(state)).not.toMatch(/secret/);
  });

  test('the partial response of an interrupted response is saved', async () => {
    const driver = aiSdkDriver({ model: streaming(...textParts('half')) });
    const inferenceRetry = { maxElapsedSeconds: 0 };
    const state = await createAgentLoop({ driver, inferenceRetry }).stream(start).result;
    expect(state.status).toBe('failed');
    expect(state.lastStep?.response).toMatchObject({ text: 'half', finishReason: 'error' });
    expect(state.usage).toMatchObject({ unreportedCalls: 1, unpricedCalls: 1 });
  });

  test('an aborted step has the partial response', async () => {
    const controller = new AbortController();
    const { stream: source } = unfinishedStream(textParts('half'));
    const loop = createAgentLoop({
      driver: aiSdkDriver({ model: new MockLanguageModelV4({ doStream: { stream: source } }) }),
    });
    const onEvent = ({ type }: AgentEvent): void => void (type === 'inference-delta' && controller.abort());
    const state = await loop.run(start, { signal: controller.signal, onEvent });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'userRequested' });
    expect(state.lastStep?.response).toMatchObject({ text: 'half', finishReason: 'aborted' });
  });
});

describe('a price', () => {
  const start = AgentState.empty().withUserMessage('Hello');
  const modelNamed = (modelId: string): MockLanguageModelV4 =>
    new MockLanguageModelV4({ modelId, doGenerate: async () => answer('hi') });
  const run = (model: MockLanguageModelV4, prices: ModelPrices) =>
    createAgentLoop({ driver: aiSdkDriver({ model }), prices, budget: { maxCost: 100 } }).run(start);

  test('is found for the model of the driver', async () => {
    const { status, usage } = await run(modelNamed('small'), { small: { input: 1e6, output: 1e6 } });
    expect(status).toBe('completed');
    expect(usage.cost).toBe(usage.totalTokens);
  });

  test('is found with and without the provider', () => {
    const driver = aiSdkDriver({ model: 'openai/gpt-5' });
    expect(driver.modelId?.(undefined)).toBe('openai/gpt-5');
    expect(driver.modelId?.({ model: 'openai:gpt-5' })).toBe('openai:gpt-5');
    expect(aiSdkDriver().modelId?.(undefined)).toBeUndefined();
  });

  test('that is unknown is an error before any call', async () => {
    const model = modelNamed('small');
    const { status, errors } = await run(model, {});
    expect(status).toBe('failed');
    expect([...errors].map(({ code }) => code)).toEqual(['PRICE_UNKNOWN']);
    expect(model.doGenerateCalls).toEqual([]);
  });
});

test('a thousand concurrent calls can share one signal', async () => {
  const warnings: unknown[] = [];
  const note = (warning: unknown): void => void warnings.push(warning);
  process.on('warning', note);
  const { signal } = new AbortController();
  const model = new MockLanguageModelV4({
    doGenerate: async () => answer('hi'),
    doStream: async () => stream([...textParts('hi'), finish]),
  });
  const driver = aiSdkDriver({ model });
  const calls = Array.from({ length: 1000 }, (_, index) => {
    return driver.infer(
      request([userMessage(`${index}`)]),
      index % 2 === 0 ? quietly(signal) : listening(signal),
    );
  });
  expect(await Promise.all(calls)).toHaveLength(1000);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  expect(warnings).toEqual([]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('the tags and the metadata of the messages of a session are not sent', async () => {
  const model = new MockLanguageModelV4({ doGenerate: async () => answer('hi') });
  const assistant = createAgentLoop({ driver: aiSdkDriver({ model }) });
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: { assistant } });
  const { sessionId } = await runtime.create({ definition: { name: 'assistant' } });
  await runtime.execute(sessionId, sendMessage('One.', { metadata: { page: 'secret' } }));
  const { state } = await runtime.execute(sessionId, sendMessage('Two.'));
  expect(state.messages.at(2)?.metadata).toEqual({ execution_id: state.executionId });
  const said = (text: string): object =>
    expect.objectContaining({ content: [{ type: 'text', text }] }) as object;
  expect(model.doGenerateCalls[1]?.prompt).toEqual([said('One.'), said('hi'), said('Two.')]);
  const sent = JSON.stringify(model.doGenerateCalls.map(({ prompt }) => prompt));
  expect(sent).not.toMatch(/execution_id|step_id|agent_id|secret/);
});
