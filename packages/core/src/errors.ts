/** Every code an error of core can carry. Codes are stable between major versions, messages are not. */
export const ERROR_CODES = [
  'AGENT_NOT_BUILDABLE',
  'AGENT_NOT_FOUND',
  'AGENT_STOP',
  'APPROVAL_DECIDED',
  'APPROVAL_NOT_FOUND',
  'ARGUMENT_INVALID',
  'ATTEMPTS_EXHAUSTED',
  'CONTEXT_INVALID',
  'DRIVER_AUTHENTICATION',
  'DRIVER_CONTENT_FILTERED',
  'DRIVER_CONTEXT_TOO_LONG',
  'DRIVER_FAILED',
  'DRIVER_INVALID_REQUEST',
  'DRIVER_MODEL_NOT_FOUND',
  'DRIVER_NETWORK',
  'DRIVER_OVERLOADED',
  'DRIVER_QUOTA_EXCEEDED',
  'DRIVER_RATE_LIMITED',
  'DRIVER_TIMEOUT',
  'HOOK_FAILED',
  'ID_INVALID',
  'INBOX_FULL',
  'INFERENCE_INVALID',
  'NOT_JSON',
  'OPERATION_REUSED',
  'OUTPUT_INVALID',
  'OUTPUT_SCHEMA_INVALID',
  'PRICE_UNKNOWN',
  'RUN_ABORTED',
  'SCRIPT_MISMATCH',
  'SESSION_BUSY',
  'SESSION_CONFLICT',
  'SESSION_NOT_FOUND',
  'SESSION_REFUSED',
  'SESSION_TOO_LARGE',
  'STATE_FORMAT',
  'STATE_VERSION',
  'STORE_THROTTLED',
  'STORE_UNAVAILABLE',
  'SUBAGENT_DEPTH_EXCEEDED',
  'SUBAGENT_FAILED',
  'TOOL_ARGUMENTS_INVALID',
  'TOOL_BLOCKED',
  'TOOL_DENIED',
  'TOOL_FAILED',
  'TOOL_INTERRUPTED',
  'TOOL_NOT_FOUND',
  'TOOL_SCHEMA_INVALID',
  'TOOL_TIMEOUT',
] as const;

/** A stable name for what went wrong; each is explained in docs/errors.md. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** What may accompany an error: what caused it, and JSON facts a program can read. */
export interface HoldfastErrorOptions {
  readonly cause?: unknown;
  readonly data?: unknown;
}

/**
 * The root of all errors that Holdfast raises on purpose. Check `code`, not the class: two copies of a package
 * have two classes but one code.
 */
export class HoldfastError extends Error {
  /** One of `ERROR_CODES`, or the code of an adapter. */
  readonly code: string;
  /** JSON facts about the failure, when there are any. */
  readonly data: unknown;

  constructor(code: string, message: string, options: HoldfastErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.data = options.data;
  }
}

/**
 * The error for a call that cannot be meant: a RangeError, or a TypeError, with the code `ARGUMENT_INVALID`. For
 * adapters too. Throw it at once, before anything is done.
 */
export function invalidArgument(
  message: string,
  Kind: RangeErrorConstructor | TypeErrorConstructor = RangeError,
): RangeError | TypeError {
  return Object.assign(new Kind(message), { code: 'ARGUMENT_INVALID' satisfies ErrorCode });
}

/** True when `error` carries the given code, whichever copy of the package made it. */
export function hasErrorCode(error: unknown, code: ErrorCode): boolean {
  try {
    return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
  } catch {
    return false; // whatever was thrown cannot be asked
  }
}

/** What else may be said of a document that does not fit. */
export interface StateFormatErrorOptions {
  readonly code?: ErrorCode | undefined;
  /** What the document is, for the message; default `document`. */
  readonly document?: string;
  readonly cause?: unknown;
}

/** A stored document does not fit the format. `path` says where; nothing was built from it. */
export class StateFormatError extends HoldfastError {
  /** Where in the document, as in `$.execution.steps[3].id`. */
  readonly path: string;

  constructor(path: string, expected: string, found: string, options: StateFormatErrorOptions = {}) {
    const { code = 'STATE_FORMAT', document = 'document', cause } = options;
    const data = { path, expected, found };
    super(code, `Invalid ${document} at ${path}: expected ${expected}, found ${found}.`, { data, cause });
    this.path = path;
  }
}

/** A one-line description of a value for an error message: its type, and its text if that is short. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  const text = typeof value === 'string' ? JSON.stringify(value) : `${value as number | bigint | boolean}`;
  return `${typeof value} ${text.length > 60 ? `${text.slice(0, 57)}…` : text}`;
}
