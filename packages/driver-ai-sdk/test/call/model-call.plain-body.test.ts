import { userMessage } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { createOpenAI } from '@ai-sdk/openai';
import { afterEach, expect, test } from 'vitest';
import { listening, rejection, request } from '../builders.ts';
import { localServer, stopLocalServers, type Reply } from '../http/local-server.ts';

/** A server answers a call for a stream with one JSON document. */

afterEach(stopLocalServers);

const hello = request([userMessage('Hello.')]);

async function called(...replies: readonly Reply[]) {
  const server = await localServer(...replies);
  const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'key-1' }).chat('gpt-5');
  const inference = listening();
  const driver = aiSdkDriver({ model, maxRetries: 0 });
  const result = await driver.infer(hello, inference).catch((error: unknown) => error);
  return { result, streams: server.bodies.map(({ stream = false }) => stream) };
}

test.each([
  ['quotaExceeded', { error: { message: 'Insufficient credits', code: 402 } }],
  ['overloaded', { error: { message: 'Provider returned error', code: 502 } }],
  ['invalidRequest', { error: { message: 'Odd.', type: 'invalid_request_error' } }],
  ['brokenAnswer', { error: { message: 'Something odd happened.' } }],
])('an error in it is the error of the provider: %s', async (kind, json) => {
  const { result, streams } = await called({ json }, { json });
  expect(result).toMatchObject({ kind, data: { attempts: 2 } });
  expect(streams).toEqual([true, false]);
});

test('an answer in it is the answer', async () => {
  const message = { role: 'assistant', content: 'Hi.' };
  const json = {
    id: 'r1',
    created: 1,
    model: 'gpt-5',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  };
  const { result, streams } = await called({ json }, { json });
  expect(result).toMatchObject({ text: 'Hi.', finishReason: 'stop' });
  expect(streams).toEqual([true, false]);
});

test('the call is made without a stream once only', async () => {
  const json = { error: { message: 'Insufficient credits', code: 402 } };
  const server = await localServer({ json }, { json }, { json });
  const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'key-1' }).chat('gpt-5');
  await rejection(aiSdkDriver({ model }).infer(hello, listening()));
  expect(server.bodies).toHaveLength(2);
});
