import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { createOpenAI } from '@ai-sdk/openai';
import { aiSdkDriver, type AiSdkDriverError } from '@holdfast/driver-ai-sdk';
import { hasErrorCode, HoldfastError } from '@holdfast/core';
import type { DriverErrorKind } from '@holdfast/core/driver';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { callFailed } from '../../src/errors/driver-error.ts';
import { apiError, quietly, rejection, request } from '../builders.ts';

const model = { provider: 'openai.chat', modelId: 'gpt-5' };

function failure(error: unknown, attempts = 1, secrets: readonly string[] = []): AiSdkDriverError {
  return callFailed({ model, error, attempts, retryAfterSeconds: undefined }, { secrets });
}

describe('the message says what, what was found and what to do', () => {
  const table: [unknown, string][] = [
    [
      apiError(401),
      'The model "gpt-5" of openai.chat failed (HTTP 401). Check the API key and its permissions.',
    ],
    [
      apiError(404),
      'The model "gpt-5" of openai.chat failed (HTTP 404): status 404. Check the model id and the base URL.',
    ],
    [
      apiError(429),
      'The model "gpt-5" of openai.chat failed (HTTP 429): status 429. Call the model less often, or raise the limit at the provider.',
    ],
    [
      apiError(400, { message: 'Unknown field!' }),
      'The model "gpt-5" of openai.chat failed (HTTP 400): Unknown field! Check the settings, tools and messages of the call.',
    ],
    [
      apiError(503),
      'The model "gpt-5" of openai.chat failed (HTTP 503): status 503. Call it again later, or name a fallback model.',
    ],
    [
      new TypeError('x is undefined'),
      'The model "gpt-5" of openai.chat failed: x is undefined. See the cause.',
    ],
    [
      'overloaded',
      'The model "gpt-5" of openai.chat failed: overloaded. Call it again later, or name a fallback model.',
    ],
    [
      { error: { message: 'overloaded' } },
      'The model "gpt-5" of openai.chat failed: overloaded. Call it again later, or name a fallback model.',
    ],
    [
      { response: { error: { message: 'gone' } } },
      'The model "gpt-5" of openai.chat failed: gone. Call another model.',
    ],
    [undefined, 'The model "gpt-5" of openai.chat failed: No reason was given. See the cause.'],
    [
      new TypeValidationError({ value: { text: 'response-secret' }, cause: new Error('no id') }),
      'The model "gpt-5" of openai.chat failed: The response does not have the expected form. Call another model.',
    ],
    [
      new InvalidResponseDataError({ data: 'response-secret' }),
      'The model "gpt-5" of openai.chat failed: The response does not have the expected form. Call another model.',
    ],
    [
      new JSONParseError({ text: 'response-secret', cause: new Error('x') }),
      'The model "gpt-5" of openai.chat failed: The response is not valid JSON. Call another model.',
    ],
  ];
  test.each(table)('%s', (error, message) => {
    expect(failure(error).message).toBe(message);
  });

  test('and how often it was tried', () => {
    expect(failure(apiError(503), 3).message).toContain('(HTTP 503, 3 attempts)');
  });
});

describe('the facts', () => {
  test('are JSON', () => {
    const error = callFailed({ model, error: apiError(429), attempts: 3, retryAfterSeconds: 90 }, {});
    expect(error).toBeInstanceOf(HoldfastError);
    expect(hasErrorCode(error, 'DRIVER_RATE_LIMITED')).toBe(true);
    expect(error).toMatchObject({ kind: 'rateLimited', retryAfterSeconds: 90 });
    expect(error.name).toBe('AiSdkDriverError');
    expect(error.data).toStrictEqual({
      ...model,
      statusCode: 429,
      isRetryable: true,
      attempts: 3,
      retryAfterSeconds: 90,
    });
  });

  test('say what may be tried again, also when the provider streamed its error', () => {
    const errors = [
      apiError(400),
      apiError(500),
      { message: 'x', statusCode: 529 },
      { message: 'x' },
      new Error('x'),
    ];
    expect(errors.map((error) => failure(error).data.isRetryable)).toEqual([false, true, true, false, false]);
  });
});

/** The error of the AI SDK for a response whose connection broke. The SDK marks it as final, by the status 200. */
function interrupted(cause: Error): APICallError {
  const message = 'Failed to process successful response';
  const sdk = new APICallError({
    message,
    url: 'https://api.example.com/v1/chat',
    requestBodyValues: {},
    statusCode: 200,
    cause: new TypeError('terminated', { cause }),
  });
  expect(sdk.isRetryable).toBe(false);
  return sdk;
}

/** The error of a package for the body of an accepted call that is not JSON. */
function invalidBody(text: string): APICallError {
  const cause = new JSONParseError({ text, cause: new SyntaxError('Unexpected end of JSON input') });
  return new APICallError({
    message: 'Invalid JSON response',
    url: 'https://api.example.com',
    requestBodyValues: {},
    statusCode: 200,
    responseBody: text,
    cause,
    isRetryable: false,
  });
}

describe('the kind of a failure', () => {
  const body = (responseBody: string) => ({ responseBody });
  const table: readonly (readonly [DriverErrorKind, unknown])[] = [
    ['authentication', apiError(401)],
    ['authentication', apiError(403)],
    ['quotaExceeded', apiError(402)],
    ['quotaExceeded', apiError(429, body('{"error":{"code":"insufficient_quota"}}'))],
    ['quotaExceeded', apiError(400, { message: 'Your credit balance is too low to access the API.' })],
    ['rateLimited', apiError(429)],
    ['rateLimited', { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }],
    ['overloaded', apiError(529)],
    ['overloaded', apiError(500)],
    ['overloaded', { type: 'overloaded_error', message: 'Overloaded' }],
    ['timeout', apiError(408)],
    ['timeout', apiError(504)],
    ['timeout', new DOMException('The operation timed out.', 'TimeoutError')],
    [
      'timeout',
      Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' }),
      }),
    ],
    [
      'network',
      Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }),
      }),
    ],
    ['network', interrupted(new Error('Invalid EOF state'))],
    ['network', interrupted(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }))],
    ['timeout', interrupted(Object.assign(new Error('x'), { code: 'UND_ERR_BODY_TIMEOUT' }))],
    ['network', invalidBody('{"choices":[{"mess')],
    ['network', invalidBody(' ')],
    ['network', interrupted(new EmptyResponseBodyError({ message: 'x' }))],
    ['brokenAnswer', new JSONParseError({ text: '{"about": "billing', cause: new Error('x') })],
    ['overloaded', new JSONParseError({ text: 'service unavailable', cause: new Error('x') })],
    ['unknown', invalidBody('<html>Welcome</html>')],
    ['brokenAnswer', invalidBody('upstream error')],
    ['overloaded', invalidBody('upstream is overloaded')],
    ['modelNotFound', apiError(404)],
    ['modelNotFound', { error: { code: 'model_not_found', message: 'No such model.' } }],
    ['contextTooLong', apiError(413)],
    ['contextTooLong', apiError(400, body('{"error":{"code":"context_length_exceeded"}}'))],
    ['contextTooLong', apiError(400, { message: 'prompt is too long: 210000 tokens > 200000 maximum' })],
    ['contentFiltered', apiError(400, body('{"error":{"code":"content_filter"}}'))],
    ['invalidRequest', apiError(400)],
    ['invalidRequest', apiError(422)],
    ['unknown', new TypeError('x is undefined')],
    ['unknown', undefined],
  ];
  test.each(table)('%s: %o', (kind, error) => {
    const failed = failure(error);
    expect(failed.kind).toBe(kind);
    expect(failed.isRetryable).toBe(['rateLimited', 'overloaded', 'timeout', 'network'].includes(kind));
    expect(failed.data.isRetryable).toBe(failed.isRetryable);
  });

  test('follows the status of a refused request, whatever words its message quotes', () => {
    expect(failure(apiError(404, { message: 'No tool "rate limit".' })).kind).toBe('modelNotFound');
    expect(failure(apiError(401, { message: 'overloaded' })).kind).toBe('authentication');
  });
});

test('a provider that sets a parsed body has a kind and a code', async () => {
  const openai = createOpenAI({ apiKey: 'none', fetch: () => Promise.resolve(Response.json({})) });
  const driver = aiSdkDriver({ model: openai('gpt-5'), maxRetries: 0 });
  expect(await rejection(driver.infer(request([]), quietly()))).toMatchObject({
    code: 'DRIVER_BROKEN_ANSWER',
  });
});

describe('secrets', () => {
  test('of the call do not get into the error or its causes', () => {
    const cause = Object.assign(
      new Error('connect to https://user:pass-secret@api.example.com/x?sig=url-secret'),
      {
        code: 'ECONNREFUSED',
        config: { headers: { authorization: 'Bearer header-secret' } },
      },
    );
    const api = apiError(500, {
      message: 'Invalid value: sk-proj-key-secret-123456. team-value-secret',
    });
    const error = failure(Object.assign(api, { cause }), 1, ['team-value-secret']);
    const shown = inspect(error, { depth: 10, showHidden: true }) + error.stack;
    expect(shown).not.toMatch(/[\w]+-secret/);
    expect(error.cause).toMatchObject({
      name: 'AI_APICallError',
      cause: { name: 'Error', code: 'ECONNREFUSED' },
    });
    expect(error.cause).not.toBe(api);
  });

  test('endless causes end', () => {
    const error = new Error('round');
    error.cause = error;
    expect(inspect(failure(error), { depth: 20 }).match(/Error: round/g)?.length).toBeLessThan(10);
  });
});
