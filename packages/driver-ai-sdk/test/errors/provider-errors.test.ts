import { TypeValidationError, type APICallError } from '@ai-sdk/provider';
import type { DriverErrorKind } from '@holdfast/core/driver';
import { expect, test } from 'vitest';
import { errorKindOf, isRetryable } from '../../src/errors/error-kind.ts';
import { CORRECTABLE, KNOWN_MESSAGES, KNOWN_STATUSES } from '../../src/errors/known-errors.ts';
import { retryAfterSeconds } from '../../src/errors/retry-after.ts';
import { KNOWN_PLACES } from '../../src/refusals/known-places.ts';
import { apiError } from '../builders.ts';
import { sourceNotes } from '../source-notes.ts';
import { REPORTED_ERRORS } from './reported-errors.ts';

/** Checks the kinds of errors against bodies that users of providers reported, and against bodies in their forms. */

test.each(REPORTED_ERRORS)('$of answers $status as $source reports', ({ status, body, kind }) => {
  const { message = '' } = (body as { readonly error?: { readonly message?: string } }).error ?? {};
  expect(errorKindOf(apiError(status, { message, responseBody: JSON.stringify(body) }))).toBe(kind);
});

type Row = readonly [provider: string, status: number, body: unknown, kind: DriverErrorKind];

const openAi = (type: string, code: string | null, message: string): unknown => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string): unknown => ({ type: 'error', error: { type, message } });
const google = (code: number, status: string, message: string, details: unknown[] = []): unknown => ({
  error: { code, message, status, details },
});
const quotaText = 'You exceeded your current quota, please check your plan and billing details.';

const rows: readonly Row[] = [
  ['OpenAI', 429, openAi('insufficient_quota', 'insufficient_quota', quotaText), 'quotaExceeded'],
  ['OpenAI', 429, openAi('tokens', 'rate_limit_exceeded', 'Rate limit reached for gpt-5.'), 'rateLimited'],
  ['OpenAI', 429, openAi('server_error', null, 'The server had an error.'), 'rateLimited'],
  [
    'OpenAI',
    400,
    openAi('invalid_request_error', 'context_length_exceeded', 'Your input exceeds the context window.'),
    'contextTooLong',
  ],
  ['OpenAI', 401, openAi('invalid_request_error', 'invalid_api_key', 'Incorrect API key.'), 'authentication'],
  ['OpenAI', 404, openAi('invalid_request_error', 'model_not_found', 'No such model.'), 'modelNotFound'],
  ['OpenAI', 404, openAi('invalid_request_error', null, "Item with id 'rs_1' not found."), 'invalidRequest'],
  [
    'OpenAI',
    400,
    openAi('invalid_request_error', 'invalid_prompt', 'Your prompt was flagged by our usage policy.'),
    'contentFiltered',
  ],
  [
    'Azure',
    400,
    { error: { code: 'content_filter', message: 'Filtered by the content management policy.' } },
    'contentFiltered',
  ],
  ['Anthropic', 529, anthropic('overloaded_error', 'Overloaded'), 'overloaded'],
  ['Anthropic', 429, anthropic('rate_limit_error', 'Your organization exceeded a limit.'), 'rateLimited'],
  ['Anthropic', 400, anthropic('invalid_request_error', 'Your credit balance is too low.'), 'quotaExceeded'],
  [
    'Anthropic',
    400,
    anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    'contextTooLong',
  ],
  [
    'Anthropic',
    400,
    anthropic('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 3'),
    'contextTooLong',
  ],
  [
    'Anthropic',
    400,
    anthropic('invalid_request_error', 'Output blocked by content filtering policy'),
    'contentFiltered',
  ],
  ['Anthropic', 413, anthropic('request_too_large', 'Request too large'), 'contextTooLong'],
  ['Google', 503, google(503, 'UNAVAILABLE', 'The model is overloaded.'), 'overloaded'],
  ['Google', 400, google(400, 'INVALID_ARGUMENT', 'API key not valid.'), 'authentication'],
  [
    'Google',
    429,
    google(429, 'RESOURCE_EXHAUSTED', quotaText, [{ quotaId: 'PerMinute' }, { retryDelay: '22s' }]),
    'rateLimited',
  ],
  [
    'Google',
    429,
    google(429, 'RESOURCE_EXHAUSTED', quotaText, [{ quotaId: 'RequestsPerDay' }, { retryDelay: '22s' }]),
    'quotaExceeded',
  ],
  [
    'Google',
    400,
    google(400, 'INVALID_ARGUMENT', 'The input token count exceeds the maximum number of tokens allowed.'),
    'contextTooLong',
  ],
  ['Google', 504, google(504, 'DEADLINE_EXCEEDED', 'Deadline expired.'), 'timeout'],
  ['Bedrock', 429, { message: 'Too many tokens, please wait before trying again.' }, 'rateLimited'],
  ['Bedrock', 400, { message: 'Input is too long for requested model.' }, 'contextTooLong'],
  ['Bedrock', 424, { message: 'The model had an error.' }, 'overloaded'],
  ['Bedrock', 408, { message: 'Model timeout.' }, 'timeout'],
  ['Bedrock', 403, { message: 'You have no access to the model.' }, 'authentication'],
  ['xAI', 400, { code: 'invalid-argument', error: 'Incorrect API key provided: xa***.' }, 'authentication'],
  ['xAI', 403, { code: 'denied', error: "Your team doesn't have any credits yet." }, 'quotaExceeded'],
  ['xAI', 400, { code: 'x', error: 'This maximum prompt length is 131072.' }, 'contextTooLong'],
  ['xAI', 403, { code: 'x', error: 'Content violates usage guidelines.' }, 'contentFiltered'],
  ['Cohere', 429, { message: 'A Trial key is limited to 1000 API calls / month.' }, 'quotaExceeded'],
  ['Cohere', 498, { message: 'blocked input' }, 'contentFiltered'],
  ['Cohere', 400, { message: 'too many tokens: total number cannot exceed 4081' }, 'contextTooLong'],
  ['Mistral', 429, { type: 'service_tier_capacity_exceeded', message: 'Capacity exceeded.' }, 'rateLimited'],
  ['Groq', 498, { error: { type: 'x', code: 'capacity_exceeded', message: 'Try again.' } }, 'overloaded'],
  [
    'OpenAI',
    429,
    openAi('insufficient_quota', 'organization_usage_limit_exceeded', 'Limit reached.'),
    'quotaExceeded',
  ],
  ['OpenAI', 429, openAi('x', 'credit_balance_exhausted', 'No credit.'), 'quotaExceeded'],
  ['Anthropic', 402, anthropic('billing_error', 'Check your payment method.'), 'quotaExceeded'],
  [
    'Anthropic',
    429,
    { error: { type: 'rate_limit_error', details: { error_code: 'enforced_spend_limit_reached' } } },
    'quotaExceeded',
  ],
  ['Google', 402, google(402, 'RESOURCE_EXHAUSTED', 'Your prepaid credit is spent.'), 'quotaExceeded'],
  ['Ollama', 429, { error: 'you (ann) have reached your session usage limit' }, 'rateLimited'],
  ['Mistral', 400, { type: 'invalid_model', message: 'Invalid model: x' }, 'modelNotFound'],
  [
    'gateway',
    402,
    { error: { type: 'insufficient_funds', message: 'Insufficient funds.' } },
    'quotaExceeded',
  ],
  ['OpenRouter', 403, { error: { code: 403, message: 'Your input was flagged.' } }, 'contentFiltered'],
];

test.each(rows)('%s answers %i: %j', (_, status, body, kind) => {
  const error = apiError(status, { message: '', responseBody: JSON.stringify(body) });
  expect(errorKindOf(error)).toBe(kind);
});

test('statuses that the SDK does not repeat are repeated where the provider advises it', () => {
  const full = JSON.stringify({ error: { code: 'capacity_exceeded', message: 'Try again.' } });
  const statuses = [
    apiError(424),
    apiError(498, { responseBody: full }),
    apiError(498, { responseBody: '{"message":"blocked input"}' }),
    apiError(402),
  ];
  expect(statuses.map(isRetryable)).toEqual([true, true, false, false]);
});

const streamed: readonly (readonly [unknown, DriverErrorKind, boolean])[] = [
  [{ type: 'overloaded_error', message: 'Overloaded' }, 'overloaded', true],
  [{ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }, 'overloaded', true],
  [{ code: 429, message: 'upstream' }, 'rateLimited', true],
  [{ code: 'insufficient_quota', statusCode: 429, message: quotaText }, 'quotaExceeded', false],
  [
    { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } } },
    'overloaded',
    true,
  ],
  [{ message: 'throttlingException: Too many tokens' }, 'rateLimited', true],
];

test.each(streamed)('a stream has the error %j', (error, kind, isPassing) => {
  expect([errorKindOf(error), isRetryable(error)]).toEqual([kind, isPassing]);
});

/** The error of the SDK for a call that the provider accepted, and answered with this body. */
function accepted(value: unknown): APICallError {
  const cause = new TypeValidationError({ value, cause: new Error('x') });
  return apiError(200, { message: 'Invalid JSON response', responseBody: JSON.stringify(value), cause });
}

const acceptedBodies: readonly (readonly [unknown, DriverErrorKind, boolean])[] = [
  [{ error: { message: 'Provider returned error', code: 502 } }, 'overloaded', true],
  [{ error: { message: 'Provider returned error', code: 429 } }, 'rateLimited', true],
  [{ error: { message: 'Insufficient credits', code: 402 } }, 'quotaExceeded', false],
  [{ error: 'Overloaded' }, 'overloaded', true],
  [
    { code: 'InvalidParameter', message: 'Range of input length should be [1, 6000]' },
    'contextTooLong',
    false,
  ],
  [{ error: { message: 'Something odd happened.' } }, 'brokenAnswer', false],
  [
    { id: 'x', object: 'chat.completion', choices: null, text: 'The billing is overloaded.' },
    'brokenAnswer',
    false,
  ],
  [{}, 'brokenAnswer', false],
];

test.each(acceptedBodies)('an accepted call is answered with %j', (body, kind, isPassing) => {
  const error = accepted(body);
  expect([errorKindOf(error), isRetryable(error)]).toEqual([kind, isPassing]);
  const streamedPart = new TypeValidationError({ value: body, cause: new Error('x') });
  expect([errorKindOf(streamedPart), isRetryable(streamedPart)]).toEqual([kind, isPassing]);
});

test.each([
  ['errors/known-errors.ts', { KNOWN_MESSAGES }],
  ['errors/known-errors.ts', { KNOWN_STATUSES }],
  ['errors/known-errors.ts', { CORRECTABLE }],
  ['refusals/known-places.ts', { KNOWN_PLACES }],
])('in %s, each row of %o has a provider, a source and a month', (module, tables) => {
  for (const [name, rows] of Object.entries(tables)) {
    const notes = sourceNotes(module, name);
    expect(notes).toHaveLength(Object.keys(rows).length);
    for (const note of notes) expect(note).toMatch(/^[^:]+: .*(#\d+|@[\d.]+|\.\w+\/\S+) \(20\d\d-\d\d\)$/);
  }
});

test('the wait that Google and OpenRouter name is the wait', () => {
  const body = JSON.stringify(google(429, 'RESOURCE_EXHAUSTED', quotaText, [{ retryDelay: '22.5s' }]));
  expect(retryAfterSeconds(apiError(429, { responseBody: body }), 0)).toBe(22.5);
  const reset = { 'x-ratelimit-reset': '1800000030000' };
  expect(retryAfterSeconds(apiError(429, { headers: reset }), 1_800_000_000_000)).toBe(30);
  const whole = { 'x-ratelimit-reset-tokens': '6m0s' };
  expect(retryAfterSeconds(apiError(429, { headers: whole }), 0)).toBeUndefined();
});
