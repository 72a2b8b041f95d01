import { createDeepSeek } from '@ai-sdk/deepseek';
import { createOpenAI } from '@ai-sdk/openai';
import { AgentState, createAgentLoop, tool, userMessage, type AgentState as State } from '@holdfast/core';
import { aiSdkDriver, AiSdkDriverError } from '@holdfast/driver-ai-sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { listening, quietly, rejection, request } from '../builders.ts';
import { localServer, stopLocalServers, type LocalServer, type Reply } from '../http/local-server.ts';

/**
 * Tests responses that end before they are complete, without an error, as when a proxy closes the connection properly. The
 * providers then report no finish reason.
 */

afterEach(stopLocalServers);

const wait = async (): Promise<void> => undefined;
const hello = request([userMessage('hello')]);
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const envelope = { id: 'c', created: 0, model: 'm' };

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  ...envelope,
  choices: [{ index: 0, delta, finish_reason }],
});
const completion = (message: object, finish_reason: string | null): Reply => ({
  json: { ...envelope, choices: [{ index: 0, message, finish_reason }], usage },
});
const call = { index: 0, id: 'call_1', function: { name: 'pay', arguments: '{"euros":5}' } };

const deepseek = ({ url }: LocalServer) => createDeepSeek({ baseURL: url, apiKey: 'key' })('deepseek-chat');
const openai = ({ url }: LocalServer) => createOpenAI({ baseURL: url, apiKey: 'key' }).chat('gpt-5');

/** Runs an agent whose tool must not run, and returns its state and the calls of the tool. */
async function runOf(
  model: Parameters<typeof aiSdkDriver>[0],
  isStreamed: boolean,
): Promise<{ readonly state: State; readonly payments: readonly unknown[] }> {
  const payments: unknown[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: { euros: { type: 'number' } } },
    execute: (input) => payments.push(input),
  });
  const inferenceRetry = { maxElapsedSeconds: 0 };
  const loop = createAgentLoop({ driver: aiSdkDriver({ ...model, wait }), tools: [pay], inferenceRetry });
  const start = AgentState.empty().withUserMessage('hello');
  return { state: await (isStreamed ? loop.stream(start).result : loop.run(start)), payments };
}

describe('a stream that ends before its finish', () => {
  const half: Reply = { events: [chunk({ role: 'assistant', content: 'It is' })] };

  test('is an error with the partial response, without a retry', async () => {
    const server = await localServer(half);
    const driver = aiSdkDriver({ model: deepseek(server), wait });
    const error = await rejection(driver.infer(hello, listening()));
    expect(error).toBeInstanceOf(AiSdkDriverError);
    expect(error).toMatchObject({
      data: { attempts: 1, isRetryable: true },
      partialResponse: { text: 'It is', finishReason: 'error' },
    });
    expect(server.bodies).toHaveLength(1);
  });

  test('is retried if no part had arrived', async () => {
    const whole = { events: [chunk({ content: 'It is 3.' }), chunk({}, 'stop')] };
    const server = await localServer({ events: [] }, whole);
    const driver = aiSdkDriver({ model: deepseek(server), wait });
    expect(await driver.infer(hello, listening())).toMatchObject({ text: 'It is 3.', finishReason: 'stop' });
    expect(server.bodies).toHaveLength(2);
  });

  test('runs no tools, and does not complete the run', async () => {
    const server = await localServer({ events: [chunk({ tool_calls: [call] })] });
    const { state, payments } = await runOf({ model: deepseek(server) }, true);
    expect(payments).toEqual([]);
    expect(state.status).toBe('failed');
    expect([...state.errors].map(({ code }) => code)).toEqual(['DRIVER_NETWORK']);
    expect(state.lastStep?.response?.toolCalls).toMatchObject([{ toolName: 'pay', input: { euros: 5 } }]);
    expect([...state.messages].map(({ role }) => role)).toEqual(['user']);
  });
});

describe('a response without a finish reason', () => {
  const half = completion({ role: 'assistant', content: 'It is' }, null);

  test('is retried, because no listener has received a part of it', async () => {
    const server = await localServer(half, completion({ role: 'assistant', content: 'It is 3.' }, 'stop'));
    const driver = aiSdkDriver({ model: openai(server), wait });
    expect(await driver.infer(hello, quietly())).toMatchObject({ text: 'It is 3.', finishReason: 'stop' });
    expect(server.bodies).toHaveLength(2);
  });

  test('is an error with the partial response after the last attempt', async () => {
    const server = await localServer(half, half, half);
    const error = await rejection(aiSdkDriver({ model: openai(server), wait }).infer(hello, quietly()));
    expect(error).toMatchObject({
      code: 'DRIVER_NETWORK',
      message: expect.stringContaining(
        '(3 attempts, its answer broke off): The answer has no finish reason.',
      ),
      data: { attempts: 3, isRetryable: true },
      partialResponse: { text: 'It is', finishReason: 'error', usage: { inputTokens: 3, outputTokens: 2 } },
    });
  });

  test('runs no tools, and does not complete the run', async () => {
    const { index: _, ...asked } = call;
    const cut = completion({ role: 'assistant', tool_calls: [{ ...asked, type: 'function' }] }, null);
    const server = await localServer(cut, cut, cut);
    const { state, payments } = await runOf({ model: openai(server) }, false);
    expect(payments).toEqual([]);
    expect(state.status).toBe('failed');
    expect(state.lastStep?.response?.toolCalls).toHaveLength(1);
  });
});

test('tool calls of a response that the provider stopped are completed without a run', async () => {
  const asks = {
    events: [chunk({ tool_calls: [call] }), chunk({}, 'eos')],
  };
  const server = await localServer(asks, { events: [chunk({ content: 'Sorry.' }), chunk({}, 'stop')] });
  const { state, payments } = await runOf({ model: deepseek(server) }, true);
  expect(payments).toEqual([]);
  expect([state.status, state.finalResponse]).toEqual(['completed', 'Sorry.']);
  const sent = JSON.stringify(server.bodies[1]?.['messages']);
  expect(sent).toContain(JSON.stringify('Not run: the answer ended for the reason "eos".').slice(1, -1));
});
