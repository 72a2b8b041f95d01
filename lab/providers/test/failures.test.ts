import { userMessage } from '@holdfast/core';
import { List, type DriverError, type InferenceOptions } from '@holdfast/core/driver';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { afterAll, describe, expect, test } from 'vitest';
import { providers } from '../src/providers/index.ts';
import { inOrder, ProviderServer, type ScriptedResponse } from '../src/server.ts';
import type { Answer, Provider, WireFailure, WireResponse } from '../src/wire.ts';

/**
 * Each failure of each provider becomes a `DriverError` with the kind of its name. The wires have the bodies that the
 * providers' public references describe; none was recorded from a provider.
 */

const server = await ProviderServer.start();
afterAll(() => server.stop());

const FAILURES: readonly WireFailure[] = [
  'rateLimited',
  'overloaded',
  'authentication',
  'quotaExceeded',
  'contextTooLong',
];
const RETRYABLE: readonly WireFailure[] = ['rateLimited', 'overloaded'];

/** The package of Ollama skips lines with errors: the stream then looks like one that broke off. */
const SKIPS_ERRORS = 'ollama-ai-provider-v2';

const request = {
  messages: List.from([userMessage('Hello.')]),
  systemPrompt: undefined,
  tools: [],
  toolChoice: 'auto',
  responseFormat: undefined,
  llmConfig: undefined,
} as const;

const answer: Answer = {
  id: 'r1',
  parts: [{ type: 'text', text: 'The sky is blue.' }],
  finish: 'stop',
  usage: { input: 10, output: 5 },
};

/** Returns the error of a call whose requests get this response. */
async function failureOf(
  provider: Provider,
  response: ScriptedResponse,
  onDelta: InferenceOptions['onDelta'],
): Promise<DriverError> {
  server.play(inOrder([response, response]));
  const driver = aiSdkDriver({ model: provider.model(server.url), maxRetries: 0 });
  const { signal } = new AbortController();
  return driver.infer(request, { signal, onDelta }).then(
    () => expect.fail('The call must fail.'),
    (error: unknown) => error as DriverError,
  );
}

const listener = (): void => undefined;

const PAGE: WireResponse = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  chunks: ['<!doctype html><title>Welcome</title>'],
};

/** Bodies of calls that a server accepted and did not answer. */
const NO_ANSWERS: Readonly<Record<string, unknown>> = {
  'an error with a status': { error: { message: 'Provider returned error', code: 502 } },
  'an error without a known word': { error: { message: 'Something odd happened', type: 'x' } },
  'no choices': { id: 'x', object: 'chat.completion', created: 1, model: 'm' },
  'empty choices': {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [],
    candidates: [],
    usage: { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 },
  },
};

/** Bodies that are not JSON, of calls that a server accepted. */
const NO_JSON: readonly string[] = ['', '{"id":"x","choi', 'upstream error'];

/** The kinds after which the loop repeats the call or takes a fallback. */
const REPEATED = ['overloaded', 'network', 'brokenAnswer', 'emptyAnswer'];

describe.each(providers.map((provider) => [provider.name, provider] as const))('%s', (_, provider) => {
  const { wire } = provider;

  describe.each([
    ['generated', undefined],
    ['streamed', listener],
  ] as const)('%s', (_mode, onDelta) => {
    test.each(FAILURES)('refused: %s', async (failure) => {
      const error = await failureOf(provider, { response: wire.refused(failure) }, onDelta);
      expect(error).toMatchObject({ kind: failure, isRetryable: RETRYABLE.includes(failure) });
      expect(error.message).not.toContain('key-1');
    });

    test('the wait that the provider requests', async () => {
      const refusal = wire.refused('rateLimited');
      const response = { ...refusal, headers: { ...refusal.headers, 'retry-after': '7' } };
      expect(await failureOf(provider, { response }, onDelta)).toMatchObject({ retryAfterSeconds: 7 });
    });

    test('a web page instead of an answer', async () => {
      const error = await failureOf(provider, { response: PAGE }, onDelta);
      expect(error).toMatchObject({ kind: 'unknown', isRetryable: false });
      expect(error.message).toContain('Check the base URL');
    });

    test.each(Object.entries(NO_ANSWERS))('accepted, and answered with %s', async (_body, body) => {
      const headers = { 'content-type': 'application/json' };
      const response = { status: 200, headers, chunks: [JSON.stringify(body)] };
      const error = await failureOf(provider, { response }, onDelta);
      expect(REPEATED).toContain(error.kind);
      const generated = onDelta ? await failureOf(provider, { response }, undefined) : error;
      expect([error.kind, error.isRetryable]).toEqual([generated.kind, generated.isRetryable]);
    });

    test('accepted, and answered with something that is not JSON', async () => {
      const headers = { 'content-type': 'application/json' };
      for (const body of NO_JSON) {
        const response = { status: 200, headers, chunks: body === '' ? [] : [body] };
        const error = await failureOf(provider, { response }, onDelta);
        expect(REPEATED).toContain(error.kind);
      }
    });

    test('a base URL without a scheme', async () => {
      const driver = aiSdkDriver({ model: provider.model('models.example'), maxRetries: 0 });
      const { signal } = new AbortController();
      await expect(driver.infer(request, { signal, onDelta })).rejects.toThrow('Check the base URL');
    });
  });

  const streamedFailures = FAILURES.flatMap((failure) => {
    const event = wire.failureEvent(failure);
    return event === undefined ? [] : [[failure, event] as const];
  });

  test.each(streamedFailures)(
    'inside a stream, before and after the first text: %s',
    async (failure, event) => {
      const response = wire.streamed(answer);
      for (const after of [0, Math.ceil(response.chunks.length / 2)]) {
        const broken = { type: 'fail', after, event } as const;
        const error = await failureOf(provider, { response, break: broken }, listener);
        const isSkipped = provider.package === SKIPS_ERRORS;
        const kind = isSkipped ? 'network' : failure;
        expect(error).toMatchObject({ kind, isRetryable: isSkipped || RETRYABLE.includes(failure) });
      }
    },
  );
});
