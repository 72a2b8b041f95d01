import { DriverError, type DriverErrorKind, type InferenceResponseInit } from '@holdfast/core/driver';
import type { FetchDefect } from './fetch-defects.ts';

const BY_STATUS: Readonly<Record<number, DriverErrorKind>> = {
  401: 'authentication',
  402: 'quotaExceeded',
  404: 'modelNotFound',
  429: 'rateLimited',
};
const BY_CODE: Readonly<Record<string, DriverErrorKind>> = {
  insufficient_quota: 'quotaExceeded',
  context_length_exceeded: 'contextTooLong',
  content_filter: 'contentFiltered',
  overloaded: 'overloaded',
};

interface ErrorBody {
  readonly error?: { readonly code?: string | null };
}

/** Returns the error of a refused call. Its text has nothing of the reply, which can repeat the key. */
export async function refusalOf(response: Response, defects: ReadonlySet<FetchDefect>): Promise<DriverError> {
  const { status, headers } = response;
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const code = defects.has('reads the status only') ? '' : (body.error?.code ?? '');
  const after = headers.get('retry-after');
  return new DriverError(
    BY_CODE[code] ?? BY_STATUS[status] ?? (status >= 500 ? 'overloaded' : 'invalidRequest'),
    `The provider refused the call with HTTP ${status}.`,
    after === null ? {} : { retryAfterSeconds: Number(after) },
  );
}

/** Returns the error of a response that was interrupted. */
export function interruptionOf(
  kind: DriverErrorKind,
  partialResponse: InferenceResponseInit | undefined,
): DriverError {
  return new DriverError(kind, 'The response was interrupted.', { partialResponse });
}

/** Returns the kind of an error in the middle of a stream. */
export const kindOfCode = (code: string): DriverErrorKind => BY_CODE[code] ?? 'unknown';
