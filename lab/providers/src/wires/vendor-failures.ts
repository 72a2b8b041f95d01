import type { WireFailure, WireResponse } from '../wire.ts';
import { jsonResponse } from './event-stream.ts';
import { refusedByOpenAi } from './openai-failures.ts';

/** The failures of providers that speak a protocol of OpenAI but report failures in their own words. */

type Refusals = Readonly<Record<WireFailure, readonly [status: number, body: object]>>;

/** Returns the refusals of a vendor. Failures that it does not list are OpenAI's. */
function refusedWith(refusals: Partial<Refusals>) {
  return (failure: WireFailure): WireResponse => {
    const refusal = refusals[failure];
    return refusal ? jsonResponse(refusal[1], refusal[0]) : refusedByOpenAi(failure);
  };
}

function deepSeekError(message: string, type: string): object {
  return { error: { message, type, param: null, code: 'invalid_request_error' } };
}

export const refusedByDeepSeek = refusedWith({
  rateLimited: [429, deepSeekError('Rate Limit Reached', 'unknown_error')],
  overloaded: [503, deepSeekError('Service is too busy.', 'service_unavailable_error')],
  authentication: [
    401,
    deepSeekError('Authentication Fails, Your api key: ****abcd is invalid', 'authentication_error'),
  ],
  quotaExceeded: [402, deepSeekError('Insufficient Balance', 'unknown_error')],
  contextTooLong: [
    400,
    deepSeekError("This model's maximum context length is 131072 tokens.", 'invalid_request_error'),
  ],
});

/** Groq refuses a request that is larger than the limit of a minute with 413. */
export const refusedByGroq = refusedWith({
  contextTooLong: [
    413,
    {
      error: {
        message:
          'Request too large for model `gpt-oss-120b` on tokens per minute (TPM): Limit 8000, Requested 9000.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    },
  ],
});

function mistralError(
  status: number,
  type: string,
  code: string,
  message: string,
): readonly [number, object] {
  return [status, { object: 'error', message, type, param: null, code, raw_status_code: status }];
}

/** The proxy of Mistral refuses a wrong key, in a form of its own. */
export const refusedByMistral = refusedWith({
  rateLimited: mistralError(429, 'rate_limited', '1300', 'Rate limit exceeded'),
  overloaded: mistralError(503, 'unreachable_backend', '1100', 'Internal server error'),
  authentication: [401, { detail: 'Unauthorized' }],
  quotaExceeded: [402, { message: 'Payment required' }],
  contextTooLong: mistralError(
    400,
    'invalid_request_prompt',
    '3051',
    'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
  ),
});

const XAI_SPENT =
  'Your team has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.';

/** xAI names the key in its answer to a wrong one, and reports spent credit as a rate limit. */
export const refusedByXai = refusedWith({
  rateLimited: [429, { code: 'Some resource has been exhausted', error: 'Too many requests for team.' }],
  overloaded: [503, { code: 'The service is currently unavailable', error: 'The model is at capacity.' }],
  authentication: [
    400,
    {
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: ke***-1. You can obtain an API key from https://console.x.ai.',
    },
  ],
  quotaExceeded: [429, { code: 'Some resource has been exhausted', error: XAI_SPENT }],
  contextTooLong: [
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 200001 tokens.",
    },
  ],
});
