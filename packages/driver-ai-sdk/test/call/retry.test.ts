import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { retryDelay, waitOnTimer, withRetries, type AttemptResult } from '../../src/call/retry.ts';
import { isRetryable } from '../../src/errors/error-kind.ts';
import { retryAfterSeconds } from '../../src/errors/retry-after.ts';
import { apiError, rejection } from '../builders.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const { signal } = new AbortController();

/** An error of the gateway around an error of the API, as `ai` recognises it. */
function gatewayError(isRetryable: boolean, cause?: unknown): Error {
  const error = new Error('gateway', { cause });
  return Object.assign(error, {
    [Symbol.for('vercel.ai.gateway.error')]: true,
    isRetryable,
    statusCode: 429,
  });
}

describe('the wait after an attempt', () => {
  const table: [string, Record<string, string> | undefined, number, number][] = [
    ['grows', undefined, 1, 2],
    ['grows', undefined, 2, 4],
    ['grows', undefined, 3, 8],
    ['but not for ever', undefined, 9, 60],
    ['is what the provider asks for', { 'retry-after': '7' }, 1, 7],
    ['in milliseconds above all', { 'retry-after-ms': '1500', 'retry-after': '7' }, 1, 1.5],
    ['may be none', { 'retry-after': '0' }, 3, 0],
    ['may end at a moment', { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 1, 30],
    ['that is not in the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 1, 2],
    ['and must make sense', { 'retry-after': 'soon', 'retry-after-ms': 'x' }, 1, 2],
    ['and must make sense', { 'retry-after': '-5' }, 1, 2],
  ];
  test.each(table)('%s: %j after %i', (_, headers, attempts, expected) => {
    expect(retryDelay(apiError(429, headers && { headers }), attempts, noon)).toBe(expected);
  });

  test('is read through the error of the gateway', () => {
    expect(
      retryAfterSeconds(gatewayError(true, apiError(429, { headers: { 'retry-after': '3' } })), noon),
    ).toBe(3);
    expect(retryAfterSeconds(gatewayError(true), noon)).toBeUndefined();
  });
});

test('the SDK decides what may be tried again', () => {
  const retryable = [apiError(408), apiError(429), apiError(500), gatewayError(true)];
  const final = [
    apiError(400),
    apiError(401),
    gatewayError(false),
    new Error('x'),
    { isRetryable: true },
    undefined,
  ];
  expect([...retryable, ...final].map(isRetryable)).toEqual([
    true,
    true,
    true,
    true,
    ...final.map(() => false),
  ]);
});

describe('attempts', () => {
  async function run(
    attempts: readonly AttemptResult<string>[],
    maxRetries = 2,
  ): Promise<{ outcome: unknown; waits: number[] }> {
    const waits: number[] = [];
    const left = [...attempts];
    const outcome = await withRetries(async () => left.shift() as AttemptResult<string>, {
      maxRetries,
      wait: async (seconds) => void waits.push(seconds),
      signal,
      now: () => noon,
    });
    return { outcome, waits };
  }
  const failed = (error: unknown, isFinal = false): AttemptResult<string> => ({ error, isFinal });
  const busy = apiError(429);
  const patient = apiError(429, { headers: { 'retry-after': '61' } });

  const table: [string, readonly AttemptResult<string>[], number, object, number[]][] = [
    ['an answer at once', [{ answer: 'a' }], 2, { answer: 'a', attempts: 1 }, []],
    [
      'an answer at last',
      [failed(busy), failed(busy), { answer: 'a' }],
      2,
      { answer: 'a', attempts: 3 },
      [2, 4],
    ],
    ['no answer', [failed(busy), failed(busy), failed(busy)], 2, { error: busy, attempts: 3 }, [2, 4]],
    ['no retries', [failed(busy)], 0, { error: busy, attempts: 1 }, []],
    ['not to be retried', [failed(apiError(400))], 2, { attempts: 1 }, []],
    ['something was said already', [failed(busy, true)], 2, { error: busy, attempts: 1 }, []],
    ['a provider that wants peace', [failed(patient)], 2, { error: patient, attempts: 1 }, []],
  ];
  test.each(table)('%s', async (_, attempts, maxRetries, outcome, waits) => {
    expect(await run(attempts, maxRetries)).toMatchObject({ outcome, waits });
  });

  test('an abort ends the wait, whatever the wait does', async () => {
    const controller = new AbortController();
    const policy = { maxRetries: 2, signal: controller.signal, now: () => noon };
    const reason = new Error('enough');
    const wait = async (): Promise<void> => {
      controller.abort(reason);
      await new Promise(() => undefined);
    };
    expect(await rejection(withRetries(async () => failed(busy), { ...policy, wait }))).toBe(reason);
  });

  test('the timer ends with the signal and leaves nothing behind', async () => {
    const controller = new AbortController();
    const waiting = waitOnTimer(3600, controller.signal);
    controller.abort();
    await waiting;
    await waitOnTimer(0, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
