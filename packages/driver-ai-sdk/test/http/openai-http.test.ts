import { LLMock, type JournalEntry } from '@copilotkit/aimock';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { aiSdkDriver, AiSdkDriverError, type AiSdkDriverOptions } from '@holdfast/driver-ai-sdk';
import {
  AgentState,
  assistantMessage,
  createAgentLoop,
  tool,
  userMessage,
  type JsonValue,
  type Message,
  type ToolCallPart,
} from '@holdfast/core';
import {
  InferenceResponse,
  toolMessage,
  type Driver,
  type InferenceRequest,
  type ToolDescription,
} from '@holdfast/core/driver';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listening, quietly, rejection, request } from '../builders.ts';

/** Tests the driver with the OpenAI provider of the AI SDK, over HTTP, with both of its protocols. */

const KEY = 'sk-test-1234567890';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';
const usage = { prompt_tokens: 11, completion_tokens: 7, input_tokens: 11, output_tokens: 7 };
const mock = new LLMock({ port: 0, strict: true });
/** Set by a test to delay a reply. */
let held = { asked: Promise.withResolvers<void>(), release: Promise.withResolvers<void>() };

beforeAll(async () => {
  const [one, two] = [
    { id: 'call_1', name: 'add', arguments: { a: 1, b: 2 } },
    { id: 'call_2', name: 'add', arguments: { a: 30, b: 40 } },
  ];
  mock.onMessage('hello', { content: 'Hello to you, whoever you are!', usage });
  mock.on({ userMessage: 'one sum', hasToolResult: false }, { toolCalls: [one], usage });
  mock.on({ userMessage: 'one sum', hasToolResult: true }, { content: 'It is 3.', usage });
  mock.on(
    { userMessage: 'two sums', hasToolResult: false },
    { content: 'Let me add.', toolCalls: [one, two], usage },
  );
  mock.on({ userMessage: 'two sums', hasToolResult: true }, { content: 'They are 3 and 70.', usage });
  mock.onMessage('long', { content: ALPHABET }, { chunkSize: 5, latency: 40 });
  mock.onMessage('cut', { content: ALPHABET }, { chunkSize: 2, latency: 40, truncateAfterChunks: 8 });
  mock.onMessage('where', { content: '{"city":"Paris"}' });
  mock.onMessage('held', async () => {
    held.asked.resolve();
    await held.release.promise;
    return { content: 'too late' };
  });
  await mock.start();
});

beforeEach(() => {
  mock.clearRequests();
  held = { asked: Promise.withResolvers<void>(), release: Promise.withResolvers<void>() };
});

afterAll(async () => {
  await mock.stop();
});

const add: ToolDescription = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
};

interface Conversation {
  readonly driver: Driver;
  /** The bodies of the requests, as the server received them. */
  readonly bodies: Record<string, JsonValue>[];
}

const protocols: [string, string, (openai: ReturnType<typeof createOpenAI>) => LanguageModelV4][] = [
  ['responses', '/v1/responses', (openai) => openai('gpt-5')],
  ['chat completions', '/v1/chat/completions', (openai) => openai.chat('gpt-5')],
];

describe.each(protocols)('%s', (name, path, modelOf) => {
  function conversation(options: AiSdkDriverOptions = {}): Conversation {
    const bodies: Record<string, JsonValue>[] = [];
    const openai = createOpenAI({
      baseURL: `${mock.url}/v1`,
      apiKey: KEY,
      fetch: async (url, init) => {
        bodies.push(JSON.parse(init?.body as string) as Record<string, JsonValue>);
        const headers = new Headers(init?.headers);
        headers.set('connection', 'close');
        return fetch(url, { ...init, headers });
      },
    });
    return { driver: aiSdkDriver({ model: modelOf(openai), ...options }), bodies };
  }

  /** The messages of a request, as the server reads them. */
  function journal(): { readonly paths: string[]; readonly messages: unknown[][] } {
    const entries: JournalEntry[] = mock.getRequests();
    return {
      paths: entries.map((entry) => entry.path),
      messages: entries.map(({ body }) => (body as { messages?: unknown[] } | null)?.messages ?? []),
    };
  }

  describe.each([
    ['generated', quietly, false],
    ['streamed', listening, true],
  ])('%s', (_, inference, isStreamed) => {
    async function answerTo(conversation: Conversation, asked: InferenceRequest): Promise<InferenceResponse> {
      return InferenceResponse.of(await conversation.driver.infer(asked, inference()));
    }

    test('returns text', async () => {
      const talk = conversation();
      const asked = request([userMessage('hello')], {
        systemPrompt: 'be brief',
        llmConfig: { temperature: 1 },
      });
      const response = await answerTo(talk, asked);
      expect(response).toMatchObject({
        text: 'Hello to you, whoever you are!',
        finishReason: 'stop',
        usage: { inputTokens: 11, outputTokens: 7, isComplete: true },
        modelId: 'gpt-5',
      });
      expect(response.responseId).toMatch(/^(resp|chatcmpl)/);
      expect(journal().paths).toEqual([path]);
      expect(talk.bodies[0]?.['stream'] ?? false).toBe(isStreamed);
      expect(journal().messages[0]).toEqual([
        { role: expect.stringMatching(/system|developer/), content: 'be brief' },
        { role: 'user', content: 'hello' },
      ]);
    });

    test.each([
      ['one sum', [['call_1', 3]], 'It is 3.', ''],
      [
        'two sums',
        [
          ['call_1', 3],
          ['call_2', 70],
        ],
        'They are 3 and 70.',
        'Let me add.',
      ],
    ] as [string, [string, number][], string, string][])(
      '%s, and the results sent back',
      async (question, sums, end, text) => {
        const talk = conversation();
        const history: Message[] = [userMessage(question)];
        const first = await answerTo(talk, request(history, { tools: [add] }));
        expect(first).toMatchObject({ finishReason: 'tool-calls', text });
        expect(first.toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(sums.map(([id]) => id));
        const results = first.toolCalls.map(sumOf);
        expect(results.map(({ output }) => output.value)).toEqual(sums.map(([, sum]) => sum));

        history.push(assistantMessage(first.content), toolMessage(results));
        const second = await answerTo(talk, request(history, { tools: [add] }));
        expect(second).toMatchObject({ text: end, finishReason: 'stop' });

        const { messages, paths } = journal();
        expect(paths).toEqual([path, path]);
        const understood = messages[1] as {
          role: string;
          tool_calls?: { id: string }[];
          tool_call_id?: string;
          content: unknown;
        }[];
        expect(understood.map(({ role }) => role).slice(0, 2)).toEqual(['user', 'assistant']);
        expect(understood.flatMap((message) => message.tool_calls ?? []).map(({ id }) => id)).toEqual(
          sums.map(([id]) => id),
        );
        const told = understood
          .filter(({ role }) => role === 'tool')
          .map((message) => [message.tool_call_id, message.content]);
        expect(told).toEqual(sums.map(([id, sum]) => [id, String(sum)]));
        expect(wireOrder(talk.bodies[1])).toEqual([
          'user',
          ...(name === 'responses' ? ['reasoning'] : []),
          ...(name === 'responses' && text ? ['assistant'] : []),
          ...sums.map(([id]) => `call ${id}`),
          ...sums.map(([id]) => `result ${id}`),
        ]);
      },
    );

    test('is retried after "too many requests"', async () => {
      const waits: number[] = [];
      mock.nextRequestError(429, { message: 'slow down', type: 'rate_limit_error' });
      const talk = conversation({ wait: async (seconds) => void waits.push(seconds) });
      expect(await answerTo(talk, request([userMessage('hello')]))).toMatchObject({ finishReason: 'stop' });
      // The server sends `retry-after: 1`.
      expect(waits).toEqual([1]);
      expect(mock.getRequests().map(({ response }) => response.status)).toEqual([429, 200]);
    });

    test('reports a permanent error without secrets', async () => {
      mock.nextRequestError(401, {
        message: `Incorrect API key provided: ${KEY}`,
        type: 'invalid_request_error',
      });
      const talk = conversation({ headers: { 'x-team-key': 'team-value-1' } });
      const error = await rejection(answerTo(talk, request([userMessage('hello')])));
      expect(error).toBeInstanceOf(AiSdkDriverError);
      expect(error).toMatchObject({
        data: { modelId: 'gpt-5', statusCode: 401, isRetryable: false, attempts: 1 },
      });
      const shown = inspect(error, { depth: 10, showHidden: true });
      expect(shown).toContain('(HTTP 401). Check the API key and its permissions.');
      expect(shown).not.toMatch(/1234567890|team-value|hello/);
    });

    test('is aborted during a request', async () => {
      const reason = new Error('enough');
      const controller = new AbortController();
      const pending = rejection(
        conversation().driver.infer(request([userMessage('held')]), inference(controller.signal)),
      );
      await held.asked.promise;
      controller.abort(reason);
      expect(await pending).toBe(reason);
      held.release.resolve();
    });

    test('returns structured output', async () => {
      const schema = {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      };
      const talk = conversation();
      const asked = request([userMessage('where')], {
        responseFormat: { type: 'json', schema, name: 'place' },
      });
      expect(JSON.parse((await answerTo(talk, asked)).text)).toEqual({ city: 'Paris' });
      const [body] = talk.bodies;
      expect(body?.['response_format'] ?? body?.['text']).toMatchObject(
        name === 'responses'
          ? { format: { type: 'json_schema', name: 'place', schema } }
          : { type: 'json_schema', json_schema: { name: 'place', schema } },
      );
    });

    test('runs an agent with a calculator', async () => {
      const calculator = tool({
        ...add,
        execute: (input) => sum(input),
      });
      const talk = conversation();
      const loop = createAgentLoop({ driver: talk.driver, tools: [calculator] });
      const start = AgentState.empty().withSystemPrompt('Add.').withUserMessage('two sums');
      const end = isStreamed ? await loop.stream(start).result : await loop.run(start);
      expect(end).toMatchObject({ status: 'completed', finalResponse: 'They are 3 and 70.', stepCount: 2 });
      expect(end.usage).toMatchObject({ inputTokens: 22, outputTokens: 14, isComplete: true });
      expect(talk.bodies.map((body) => body['stream'] ?? false)).toEqual([isStreamed, isStreamed]);
      expect(end.steps[0]?.toolExecutions.map(({ value }) => value)).toEqual([3, 70]);
      expect(journal().messages[1]?.filter((message) => (message as Message).role === 'tool')).toHaveLength(
        2,
      );
    });
  });

  test('sends the deltas of a streamed text as they arrive', async () => {
    const { deltas, ...inference } = listening();
    const response = InferenceResponse.of(
      await conversation().driver.infer(request([userMessage('hello')]), inference),
    );
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ text }) => text).join('')).toBe(response.text);
    expect(new Set(deltas.map(({ id }) => id)).size).toBe(1);
  });

  test('reports an interrupted stream as an error with the partial response, without a retry', async () => {
    const listener = listening();
    const error = await rejection(conversation().driver.infer(request([userMessage('cut')]), listener));
    expect(error).toBeInstanceOf(AiSdkDriverError);
    const { partialResponse, data } = error as AiSdkDriverError;
    expect(data.attempts).toBe(1);
    const heard = listener.deltas.map(({ text }) => text).join('');
    expect(heard).not.toBe('');
    expect(ALPHABET.startsWith(heard) && heard.length < ALPHABET.length).toBe(true);
    expect(partialResponse).toMatchObject({
      text: heard,
      finishReason: 'error',
      usage: { isComplete: false },
    });
    expect(JSON.stringify(partialResponse)).not.toContain('itemId');
    expect(mock.getRequests()).toHaveLength(1);
  });

  test('returns the partial response of an aborted stream, which the next call can send', async () => {
    const controller = new AbortController();
    const talk = conversation();
    const onDelta = (): void => controller.abort(new Error('enough'));
    const asked = request([userMessage('long')]);
    const response = InferenceResponse.of(
      await talk.driver.infer(asked, { signal: controller.signal, onDelta }),
    );
    expect(response).toMatchObject({ finishReason: 'aborted', usage: { isComplete: false } });
    expect(ALPHABET.startsWith(response.text) && response.text !== ALPHABET).toBe(true);
    const next = [...asked.messages, assistantMessage(response.content), userMessage('hello')];
    expect(await talk.driver.infer(request(next), quietly())).toMatchObject({ finishReason: 'stop' });
    const reasoning = name === 'responses' ? ['reasoning'] : [];
    expect(wireOrder(talk.bodies.at(-1))).toEqual(['user', ...reasoning, 'assistant', 'user']);
  });

  test('reports a server that cannot be reached', async () => {
    const openai = createOpenAI({ baseURL: 'http://127.0.0.1:1/v1', apiKey: KEY });
    const driver = aiSdkDriver({ model: modelOf(openai), maxRetries: 1, wait: async () => undefined });
    const error = await rejection(driver.infer(request([userMessage('hello')]), quietly()));
    expect(error).toMatchObject({ data: { isRetryable: true, attempts: 2 } });
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        /\(2 attempts\): Cannot connect to API.* Check the connection and the base URL, or call it again later\.$/,
      ),
    );
  });
});

function sumOf({ toolCallId, toolName, input }: ToolCallPart) {
  return {
    type: 'tool-result' as const,
    toolCallId,
    toolName,
    output: { type: 'json' as const, value: sum(input) },
  };
}

function sum(input: unknown): number {
  const { a, b } = input as { a: number; b: number };
  return a + b;
}

/** The content of a request in its order, in a form that is independent of the protocol. */
function wireOrder(body: Record<string, JsonValue> | undefined): string[] {
  const items = (body?.['input'] ?? body?.['messages']) as readonly unknown[] as readonly WireItem[];
  return items.flatMap((item) => {
    if (item.type === 'function_call') return [`call ${item.call_id}`];
    if (item.type === 'function_call_output') return [`result ${item.call_id}`];
    if (item.role === 'tool') return [`result ${item.tool_call_id}`];
    if (item.tool_calls) return item.tool_calls.map(({ id }) => `call ${id}`);
    return [item.role ?? item.type ?? 'unknown'];
  });
}

interface WireItem {
  readonly type?: string;
  readonly role?: string;
  readonly call_id?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}
