import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  LoadAPIKeyError,
  NoSuchModelError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import type { DriverErrorKind } from '@holdfast/core/driver';

const BY_STATUS: ReadonlyMap<number, DriverErrorKind> = new Map([
  [401, 'authentication'],
  [402, 'quotaExceeded'],
  [403, 'authentication'],
  [404, 'modelNotFound'],
  [408, 'timeout'],
  [409, 'overloaded'],
  [413, 'contextTooLong'],
  [429, 'rateLimited'],
  [504, 'timeout'],
]);

/**
 * The words by which providers name a failure in a code, type or message, where the HTTP status does not tell it: in a
 * stream, or when one status stands for several. The first that fits holds.
 */
const BY_WORDS: readonly (readonly [DriverErrorKind, RegExp])[] = [
  [
    'quotaExceeded',
    /insufficient[_ ]quota|exceeded your current quota|credit balance|billing|payment required|insufficient[_ ](credits|funds|balance)/i,
  ],
  [
    'contextTooLong',
    /context[_ ]length|context window|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds the maximum number of tokens/i,
  ],
  ['contentFiltered', /content[_ ](filter|management|policy)|responsible ?ai|safety (system|settings)/i],
  [
    'authentication',
    /invalid[_ ]api[_ ]key|api key not valid|authentication[_ ]error|permission[_ ](error|denied)/i,
  ],
  ['modelNotFound', /model[_ ]not[_ ]found|no such model|not_found_error/i],
  ['rateLimited', /rate[_ ]limit|too many requests|resource[_ ]exhausted|throttl/i],
  [
    'overloaded',
    /overloaded|server_error|internal[_ ]server|service[_ ]unavailable|unavailable|high demand|capacity/i,
  ],
  ['timeout', /timed? ?out|deadline exceeded/i],
];

const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
]);
const TIMEOUT_CODES: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** An answer ended, without an error of the provider, before it was complete. */
export class UnfinishedAnswerError extends Error {
  override readonly name = 'UnfinishedAnswerError';
}

/** The kind of a failure: by its class, then by the words of the provider, then by the HTTP status. */
export function errorKindOf(error: unknown): DriverErrorKind {
  return (
    kindOfClass(error) ?? kindOfAnswer(error, statusOf(error)) ?? (isTransient(error) ? 'network' : 'unknown')
  );
}

const PASSING: ReadonlySet<DriverErrorKind> = new Set(['rateLimited', 'overloaded', 'network', 'timeout']);

/** True when the same call may succeed later: its kind passes by itself, and the SDK does not deny it. */
export function isRetryable(error: unknown): boolean {
  return PASSING.has(errorKindOf(error)) && !isFinal(error);
}

/** The HTTP status of the answer to a call, when there was an answer. */
export function statusOf(error: unknown): number | undefined {
  // A failed download of a file has a status too, which is not that of the model.
  const isOther = error instanceof Error && !isSdkError(error);
  const status = isOther ? undefined : (apiCallError(error)?.statusCode ?? member(error, 'statusCode'));
  return typeof status === 'number' ? status : undefined;
}

/** Does the SDK mark the error as one that passes? */
function isTransient(error: unknown): boolean {
  return isSdkError(error) && error.isRetryable;
}

/** Does the SDK mark the error as one that repeats? */
function isFinal(error: unknown): boolean {
  return isSdkError(error) && !error.isRetryable && !isInterruption(error);
}

/**
 * True when the connection broke while a response arrived. The SDK marks such an error by the status of the call, which
 * was accepted, so its mark means nothing.
 */
function isInterruption(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status < 400 && kindOfCodes(error) !== undefined;
}

function isSdkError(error: unknown): error is { readonly isRetryable: boolean } {
  return APICallError.isInstance(error) || isGatewayError(error);
}

/** The error of the HTTP call, also when the gateway put its own around it. */
export function apiCallError(error: unknown): APICallError | undefined {
  if (APICallError.isInstance(error)) return error;
  return isGatewayError(error) && APICallError.isInstance(error.cause) ? error.cause : undefined;
}

/** As `GatewayError.isInstance`, which would load the gateway's package. */
function isGatewayError(error: unknown): error is Error & { readonly isRetryable: boolean } {
  return error instanceof Error && GATEWAY_ERROR in error;
}

const GATEWAY_ERROR = Symbol.for('vercel.ai.gateway.error');

function kindOfClass(error: unknown): DriverErrorKind | undefined {
  if (error instanceof UnfinishedAnswerError) return 'network';
  if (LoadAPIKeyError.isInstance(error)) return 'authentication';
  if (NoSuchModelError.isInstance(error)) return 'modelNotFound';
  if (
    InvalidPromptError.isInstance(error) ||
    InvalidArgumentError.isInstance(error) ||
    UnsupportedFunctionalityError.isInstance(error)
  )
    return 'invalidRequest';
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  return undefined;
}

function kindOfAnswer(error: unknown, status: number | undefined): DriverErrorKind | undefined {
  const isRefused = status !== undefined && status >= 400;
  // A word of a request that was refused for another reason must not hide that reason: only ambiguous statuses are read.
  const isAmbiguous = !isRefused || [400, 403, 422, 429].includes(status) || status >= 500;
  const words = isAmbiguous ? kindOfWords(error) : undefined;
  if (words) return words;
  if (isRefused) return BY_STATUS.get(status) ?? (status >= 500 ? 'overloaded' : 'invalidRequest');
  return kindOfCodes(error);
}

/** The kind of a failed connection: by the codes of the error and of its causes. */
function kindOfCodes(error: unknown): DriverErrorKind | undefined {
  const chain = withCauses(error);
  const codes = chain.map((each) => member(each, 'code'));
  if (codes.some((code) => TIMEOUT_CODES.has(code))) return 'timeout';
  return codes.some((code) => NETWORK_CODES.has(code)) || chain.some(isTerminated) ? 'network' : undefined;
}

/** The error of `fetch` in Node.js for a body that ended too early. Its cause may have no code. */
function isTerminated(error: Error): boolean {
  return error.name === 'TypeError' && error.message === 'terminated';
}

function kindOfWords(error: unknown): DriverErrorKind | undefined {
  const text = wordsOf(error);
  return text === '' ? undefined : BY_WORDS.find(([, words]) => words.test(text))?.[0];
}

/** The codes, types and messages of an error and of the objects that providers put around one. */
function wordsOf(error: unknown): string {
  const call = apiCallError(error);
  if (call) return `${call.message} ${call.responseBody?.slice(0, MAX_BODY) ?? ''}`;
  if (typeof error === 'string') return error;
  const places = [error, member(error, 'error'), member(member(error, 'response'), 'error')];
  return places
    .flatMap((place) => ['code', 'type', 'message'].map((name) => member(place, name)))
    .filter((word) => typeof word === 'string')
    .join(' ');
}

const MAX_BODY = 4_000;

/** An error and its causes. */
function withCauses(error: unknown, depth = 0): readonly Error[] {
  return error instanceof Error && depth <= 4 ? [error, ...withCauses(error.cause, depth + 1)] : [];
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
