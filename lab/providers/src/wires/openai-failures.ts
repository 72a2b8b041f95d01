import type { WireFailure, WireResponse } from '../wire.ts';
import { jsonResponse } from './event-stream.ts';

/** The body of a failure in the protocols of OpenAI. */
export interface OpenAiFailure {
  readonly message: string;
  readonly type: string;
  readonly param: null;
  readonly code: string | null;
}

const FAILURES: Readonly<Record<WireFailure, readonly [status: number, failure: OpenAiFailure]>> = {
  rateLimited: [
    429,
    {
      message: 'Rate limit reached for requests.',
      type: 'requests',
      param: null,
      code: 'rate_limit_exceeded',
    },
  ],
  overloaded: [
    503,
    {
      message: 'Our servers are currently overloaded. Please try again later.',
      type: 'service_unavailable_error',
      param: null,
      code: 'server_is_overloaded',
    },
  ],
  authentication: [
    401,
    {
      message: 'Incorrect API key provided.',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_api_key',
    },
  ],
  quotaExceeded: [
    429,
    {
      message: 'Your project has reached its limit.',
      type: 'insufficient_quota',
      param: null,
      code: 'project_spend_limit_exceeded',
    },
  ],
  contextTooLong: [
    400,
    {
      message: "This model's maximum context length is 128000 tokens.",
      type: 'invalid_request_error',
      param: null,
      code: 'context_length_exceeded',
    },
  ],
};

/** The failure as OpenAI reports it. */
export function openAiFailure(failure: WireFailure): OpenAiFailure {
  return FAILURES[failure][1];
}

/** A request that OpenAI refuses. */
export function refusedByOpenAi(failure: WireFailure): WireResponse {
  const [status, error] = FAILURES[failure];
  return jsonResponse({ error }, status);
}

/** The HTTP status of a failure. */
export function openAiStatus(failure: WireFailure): number {
  return FAILURES[failure][0];
}
