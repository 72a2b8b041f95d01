import type { WireFailure, WireResponse } from '../wire.ts';
import { jsonResponse } from './event-stream.ts';

/** The body of a failure in the protocols of OpenAI. */
export interface OpenAiFailure {
  readonly message: string;
  readonly type: string;
  readonly param: null;
  readonly code: string | null;
}

const FAILURES: Readonly<
  Record<WireFailure, readonly [status: number, type: string, code: string, message: string]>
> = {
  rateLimited: [429, 'requests', 'rate_limit_exceeded', 'Rate limit reached for requests.'],
  overloaded: [
    503,
    'service_unavailable_error',
    'server_is_overloaded',
    'Our servers are currently overloaded. Please try again later.',
  ],
  authentication: [401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.'],
  quotaExceeded: [
    429,
    'insufficient_quota',
    'project_spend_limit_exceeded',
    'Your project has reached its limit.',
  ],
  contextTooLong: [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    "This model's maximum context length is 128000 tokens.",
  ],
};

/** The failure as OpenAI reports it. */
export function openAiFailure(failure: WireFailure): OpenAiFailure {
  const [, type, code, message] = FAILURES[failure];
  return { message, type, param: null, code };
}

/** A request that OpenAI refuses. */
export function refusedByOpenAi(failure: WireFailure): WireResponse {
  return jsonResponse({ error: openAiFailure(failure) }, openAiStatus(failure));
}

/** The HTTP status of a failure. */
export function openAiStatus(failure: WireFailure): number {
  return FAILURES[failure][0];
}
