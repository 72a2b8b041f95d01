import { checkArgument, mustBe } from '../../arguments.ts';
import { HoldfastError, type ErrorCode, type HoldfastErrorOptions } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import {
  InferenceResponse,
  reportedUsage,
  type InferenceResponseInit,
} from '../../state/inference/inference-response.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { Usage, type CallUsage } from '../../state/inference/usage.ts';

/** The reason why a model gave no usable response. */
export type DriverErrorKind =
  | 'rateLimited'
  | 'overloaded'
  | 'network'
  | 'timeout'
  | 'authentication'
  | 'quotaExceeded'
  | 'modelNotFound'
  | 'contextTooLong'
  | 'contentFiltered'
  | 'invalidRequest'
  | 'emptyAnswer'
  | 'brokenAnswer'
  | 'unknown';

/** The remedy of a failure: time, a person, another call at once, or none for this request. */
type Remedy = 'time' | 'person' | 'anotherCall' | 'none';

const KINDS: { readonly [K in DriverErrorKind]: readonly [code: ErrorCode, remedy: Remedy] } = {
  rateLimited: ['DRIVER_RATE_LIMITED', 'time'],
  overloaded: ['DRIVER_OVERLOADED', 'time'],
  network: ['DRIVER_NETWORK', 'time'],
  timeout: ['DRIVER_TIMEOUT', 'time'],
  authentication: ['DRIVER_AUTHENTICATION', 'person'],
  quotaExceeded: ['DRIVER_QUOTA_EXCEEDED', 'person'],
  modelNotFound: ['DRIVER_MODEL_NOT_FOUND', 'person'],
  contextTooLong: ['DRIVER_CONTEXT_TOO_LONG', 'none'],
  contentFiltered: ['DRIVER_CONTENT_FILTERED', 'none'],
  invalidRequest: ['DRIVER_INVALID_REQUEST', 'none'],
  emptyAnswer: ['DRIVER_EMPTY_ANSWER', 'anotherCall'],
  brokenAnswer: ['DRIVER_BROKEN_ANSWER', 'anotherCall'],
  unknown: ['DRIVER_FAILED', 'none'],
};

/** Every kind of failure that a driver can report. */
export const DRIVER_ERROR_KINDS = Object.keys(KINDS) as readonly DriverErrorKind[];

/** The kinds of which another call, of this or another model, may succeed. */
export const REMEDIABLE_KINDS = DRIVER_ERROR_KINDS.filter((kind) => KINDS[kind][1] !== 'none');

const KIND = mustBe.oneOf(DRIVER_ERROR_KINDS);

/** The part of a request that a provider refused. */
export interface RefusedPlace {
  /** The part in the words of the provider, such as `messages.3.content.0`. Absent: the provider names none. */
  readonly path?: string;
  /** The indexes in `request.messages` of the messages of which the provider refused one. Empty: this is not known. */
  readonly messages: readonly number[];
}

/** The facts that a `DriverError` can carry. */
export interface DriverErrorOptions extends HoldfastErrorOptions {
  /** True when the same call may succeed later. Default: true for `rateLimited`, `overloaded`, `network` and `timeout`. */
  readonly isRetryable?: boolean | undefined;
  /** The seconds after which the provider accepts another call, when it named them. */
  readonly retryAfterSeconds?: number | undefined;
  /** The part of the response that had arrived. */
  readonly partialResponse?: InferenceResponse | InferenceResponseInit | undefined;
  /**
   * The usage that the provider bills for the failed call, when it is known. Default: the usage of `partialResponse`.
   */
  readonly usage?: Usage | CallUsage | undefined;
  /**
   * The part of the request that the provider refused, for an error of the kind `invalidRequest`. The loop names the messages
   * of the state. Absent: no provider refused the request.
   */
  readonly refused?: RefusedPlace | undefined;
}

/**
 * The error that a driver throws when a model gave no usable response. The loop then repeats the call, suspends the
 * execution, calls a fallback model, or ends the execution `failed`. The kind determines the code: `rateLimited` has
 * the code `DRIVER_RATE_LIMITED`, `unknown` has `DRIVER_FAILED`.
 */
export class DriverError extends HoldfastError implements DriverErrorOptions {
  readonly kind: DriverErrorKind;
  /** True when the same call may succeed later. */
  readonly isRetryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly partialResponse: DriverErrorOptions['partialResponse'];
  readonly usage: DriverErrorOptions['usage'];
  readonly refused: DriverErrorOptions['refused'];

  /** @throws RangeError `ARGUMENT_INVALID` for an unknown kind. */
  constructor(kind: DriverErrorKind, message: string, options: DriverErrorOptions = {}) {
    checkArgument('kind of DriverError', kind, KIND);
    const [code, remedy] = KINDS[kind];
    super(code, message, options);
    this.kind = kind;
    this.isRetryable = options.isRetryable ?? remedy === 'time';
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.partialResponse = options.partialResponse;
    this.usage = options.usage;
    this.refused = options.refused;
  }
}

/** The members of a `DriverError` that the loop reads. */
export interface DriverFailure {
  readonly kind: DriverErrorKind;
  readonly isRetryable: boolean;
  /** True when the call can succeed only after a person has acted, such as by adding credit. */
  readonly needsPerson: boolean;
  /** True when the call is repeated once at once: the model may answer otherwise. */
  readonly needsAnotherCall: boolean;
  /** The code of the error. */
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Reads an error that a driver threw. An error without a known kind has the kind `unknown`. The check is by members,
 * because two copies of core have two classes.
 */
export function driverFailureOf(error: unknown): DriverFailure {
  const { kind, isRetryable, retryAfterSeconds } = membersOf(error);
  const known = KIND.accepts(kind) ? (kind as DriverErrorKind) : 'unknown';
  const isSeconds = typeof retryAfterSeconds === 'number' && retryAfterSeconds >= 0;
  return {
    kind: known,
    isRetryable: isRetryable === true,
    needsPerson: KINDS[known][1] === 'person',
    needsAnotherCall: KINDS[known][1] === 'anotherCall',
    code: KINDS[known][0],
    retryAfterSeconds: isSeconds ? retryAfterSeconds : undefined,
  };
}

/** The part of a request that a provider refused, when the error tells it. */
export function refusedPlaceOf(error: unknown): RefusedPlace | undefined {
  const { path, messages } = membersOf(membersOf(error).refused) as {
    readonly [K in keyof RefusedPlace]?: unknown;
  };
  if (!Array.isArray(messages)) return undefined;
  return {
    ...(typeof path === 'string' && { path }),
    messages: messages.filter((index): index is number => Number.isInteger(index)),
  };
}

/** Returns the error of a failed call with a sentence, and with facts, that a driver does not know. */
export function toldError(error: unknown, sentence: string, facts?: object): DriverError {
  const { message, data } = toErrorRecord(error);
  const { kind, isRetryable, retryAfterSeconds } = driverFailureOf(error);
  const { usage } = membersOf(error) as Pick<DriverError, 'usage'>;
  return new DriverError(kind, `${message} ${sentence}`, {
    cause: error,
    data: facts ? { ...(isJsonObject(data) && data), ...facts } : data,
    isRetryable,
    retryAfterSeconds,
    partialResponse: partialResponseOf(error),
    usage,
  });
}

function membersOf(error: unknown): { readonly [K in keyof DriverError]?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}

/** The partial response that an error of a driver carries, if there is one. */
export function partialResponseOf(error: unknown): InferenceResponse | undefined {
  const { partialResponse } = membersOf(error) as Partial<DriverError>;
  if (partialResponse === undefined) return undefined;
  try {
    return InferenceResponse.of(partialResponse);
  } catch {
    return undefined;
  }
}

/** The usage that the provider bills for a failed call; `Usage.none` when the error reports none. */
export function billedUsage(error: unknown, partial: InferenceResponse | undefined): Usage {
  const { usage } = membersOf(error) as Pick<DriverError, 'usage'>;
  const isReported = typeof usage === 'object' && usage !== null;
  return isReported ? reportedUsage(usage) : (partial?.usage ?? Usage.none);
}
