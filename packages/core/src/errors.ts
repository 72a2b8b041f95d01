/** Every error code of core. Codes are stable between major versions; messages are not. */
export const ERROR_CODES = [
  'AGENT_NOT_BUILDABLE',
  'AGENT_NOT_FOUND',
  'AGENT_STOP',
  'ANSWER_GIVEN',
  'ANSWER_INVALID',
  'ANSWER_NOT_FOUND',
  'ANSWER_TIMEOUT',
  'APPROVAL_DECIDED',
  'APPROVAL_NOT_FOUND',
  'APPROVAL_OUTDATED',
  'ARGUMENT_INVALID',
  'ATTEMPTS_EXHAUSTED',
  'CHANNEL_UNAVAILABLE',
  'CONTEXT_INVALID',
  'DRIVER_AUTHENTICATION',
  'DRIVER_BROKEN_ANSWER',
  'DRIVER_CONTENT_FILTERED',
  'DRIVER_CONTEXT_TOO_LONG',
  'DRIVER_EMPTY_ANSWER',
  'DRIVER_FAILED',
  'DRIVER_INVALID_REQUEST',
  'DRIVER_MODEL_NOT_FOUND',
  'DRIVER_NETWORK',
  'DRIVER_OVERLOADED',
  'DRIVER_QUOTA_EXCEEDED',
  'DRIVER_RATE_LIMITED',
  'DRIVER_TIMEOUT',
  'EXECUTION_ACTIVE',
  'HOOK_FAILED',
  'ID_INVALID',
  'INBOX_FULL',
  'INFERENCE_INVALID',
  'ISOLATED_PROCESS_ENDED',
  'NOT_JSON',
  'OPERATION_REUSED',
  'OUTPUT_INVALID',
  'OUTPUT_SCHEMA_INVALID',
  'PRICE_UNKNOWN',
  'REVISION_NOT_FOUND',
  'RUN_ABORTED',
  'RUN_CONTEXT_MISSING',
  'SCRIPT_MISMATCH',
  'SESSION_BUSY',
  'SESSION_CONFLICT',
  'SESSION_NOT_FOUND',
  'SESSION_REFUSED',
  'SESSION_SUSPECT',
  'SESSION_TOO_LARGE',
  'SPENDING_UNBOUNDED',
  'STATE_FORMAT',
  'STATE_VERSION',
  'STORE_THROTTLED',
  'STORE_UNAVAILABLE',
  'SUBAGENT_DEPTH_EXCEEDED',
  'SUBAGENT_FAILED',
  'SUMMARY_WITHOUT_EFFECT',
  'TOOL_ARGUMENTS_INVALID',
  'TOOL_ARGUMENTS_NOT_JSON',
  'TOOL_ARGUMENTS_OUTDATED',
  'TOOL_BLOCKED',
  'TOOL_DENIED',
  'TOOL_FAILED',
  'TOOL_INTERRUPTED',
  'TOOL_NOT_FOUND',
  'TOOL_RESULT_TOO_LARGE',
  'TOOL_SCHEMA_INVALID',
  'TOOL_TIMEOUT',
  'WORKER_STOOD_STILL',
] as const;

/** The code of an error of core. docs/errors.md explains each code. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The cause of an error, and JSON facts for programs. */
export interface HoldfastErrorOptions {
  readonly cause?: unknown;
  readonly data?: unknown;
}

/**
 * The base class of the errors that Holdfast throws on purpose, except those for invalid arguments. Check `code`, not
 * the class: two copies of a package have two classes but the same codes.
 */
export class HoldfastError extends Error {
  /** A code of `ERROR_CODES`, or the code of an adapter. */
  readonly code: string;
  /** JSON facts about the failure, if there are any. */
  readonly data: unknown;

  constructor(code: string, message: string, options: HoldfastErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.data = options.data;
  }
}

/**
 * Creates the error for an invalid argument: a RangeError or a TypeError with the code `ARGUMENT_INVALID`. Adapters can
 * use it too. Throw the error before the call has any effect.
 */
export function invalidArgument(
  message: string,
  Kind: RangeErrorConstructor | TypeErrorConstructor = RangeError,
): RangeError | TypeError {
  return Object.assign(new Kind(message), { code: 'ARGUMENT_INVALID' satisfies ErrorCode });
}

/** True when `error` has the given code, whichever copy of the package created it. */
export function hasErrorCode(error: unknown, code: ErrorCode): boolean {
  try {
    return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
  } catch {
    return false; // a hostile value can throw when its members are read
  }
}

/** Further facts about an invalid document. */
export interface StateFormatErrorOptions {
  readonly code?: ErrorCode | undefined;
  /** The name of the document in the message. Default: `document`. */
  readonly document?: string;
  readonly cause?: unknown;
}

/** The error for a stored document that does not fit its format. Nothing is restored from the document. */
export class StateFormatError extends HoldfastError {
  /** The path of the invalid value, as in `$.execution.steps[3].id`. */
  readonly path: string;

  constructor(path: string, expected: string, found: string, options: StateFormatErrorOptions = {}) {
    const { code = 'STATE_FORMAT', document = 'document', cause } = options;
    const data = { path, expected, found };
    super(code, `Invalid ${document} at ${path}: expected ${expected}, found ${found}.`, { data, cause });
    this.path = path;
  }
}

/** Describes a value in one line for an error message: its type, and its text, truncated to 60 characters. */
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
