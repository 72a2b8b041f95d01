import type { DriverErrorKind } from '@holdfast/core/driver';

/** An error that somebody reported, with its source. */
export type Row = readonly [of: string, status: number, body: unknown, kind: DriverErrorKind, source: string];

/** Bodies in the forms of three providers. */
export const openAi = (
  message: string,
  code: string | null = null,
  type = 'invalid_request_error',
): unknown => ({
  error: { message, type, param: null, code },
});
export const anthropic = (message: string, type = 'invalid_request_error'): unknown => ({
  type: 'error',
  error: { type, message },
});
export const google = (message: string, details: unknown = []): unknown => ({
  error: { code: 400, message, status: 'INVALID_ARGUMENT', details },
});
