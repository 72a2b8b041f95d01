import { DriverError, type DriverErrorKind, type InferenceResponseInit } from '@holdfast/core/driver';
import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';

const BY_CODE: Readonly<Record<string, DriverErrorKind>> = {
  insufficient_quota: 'quotaExceeded',
  context_length_exceeded: 'contextTooLong',
  content_filter: 'contentFiltered',
  rate_limit_exceeded: 'rateLimited',
  server_error: 'overloaded',
};
const BY_STATUS: Readonly<Record<number, DriverErrorKind>> = {
  401: 'authentication',
  402: 'quotaExceeded',
  403: 'authentication',
  404: 'modelNotFound',
  408: 'timeout',
  429: 'rateLimited',
};

/**
 * Converts an error of the client. The message has the status and the code only: the text of the provider can repeat the
 * key, so the client's error is not the cause either.
 */
export function driverErrorOf(
  error: unknown,
  partialResponse: InferenceResponseInit | undefined,
): DriverError {
  if (error instanceof APIConnectionTimeoutError)
    return new DriverError('timeout', 'OpenAI did not respond in time.', { partialResponse });
  if (!(error instanceof APIError) || error instanceof APIConnectionError)
    return new DriverError('network', 'The connection to OpenAI broke off.', { partialResponse });
  const status = error.status === undefined ? 'an error' : `HTTP ${error.status}`;
  const message = `OpenAI refused the call with ${status} (${error.code ?? 'no code'}).`;
  const retryAfterSeconds = secondsOf(error.headers?.get('retry-after'));
  return new DriverError(kindOf(error), message, { partialResponse, retryAfterSeconds });
}

function kindOf({ code, status }: APIError): DriverErrorKind {
  const known = BY_CODE[code ?? ''] ?? BY_STATUS[status ?? 0];
  if (known !== undefined || status === undefined) return known ?? 'unknown';
  return status >= 500 ? 'overloaded' : 'invalidRequest';
}

function secondsOf(retryAfter: string | null | undefined): number | undefined {
  const seconds = Number.parseFloat(retryAfter ?? '');
  return Number.isNaN(seconds) ? undefined : seconds;
}
