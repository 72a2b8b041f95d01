import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  JSONParseError,
  LoadAPIKeyError,
  NoSuchModelError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import type { DriverErrorKind } from '@holdfast/core/driver';
import { RefusedDownloadError } from '../download/refused-download.ts';
import { member } from '../values/member.ts';
import { capped } from './cap.ts';

const BY_STATUS: ReadonlyMap<number, DriverErrorKind> = new Map([
  [401, 'authentication'],
  [402, 'quotaExceeded'],
  [403, 'authentication'],
  [404, 'modelNotFound'],
  [408, 'timeout'],
  [409, 'overloaded'],
  [413, 'contextTooLong'],
  [424, 'overloaded'],
  [429, 'rateLimited'],
  [498, 'contentFiltered'],
  [504, 'timeout'],
]);

/**
 * The words by which providers name a failure in a code, type or message, where the HTTP status does not tell it: in a
 * stream, or when one status stands for several. The first that fits holds.
 */
const BY_WORDS: readonly (readonly [DriverErrorKind, RegExp])[] = [
  [
    'quotaExceeded',
    /insufficient[_ ]quota|exceeded your current quota|quota[_ ]?exceeded|service quota|credit[_ ]balance|billing|payment required|insufficient[_ ](credits|funds|balance)|(any|no|out of|available) credits|spend(ing)?[_ ]limit|usage_limit_exceeded|specified (workspace )?api usage limits|(weekly|monthly) usage limit|calls \/ month/i,
  ],
  ['rateLimited', /rate[_ ]limit|too many requests|resource[_ ]exhausted|throttl/i],
  [
    'contextTooLong',
    /context[_ ](length|limit)|context window|maximum (context|prompt)|prompt is too long|input is too long|too many (input )?tokens|exceeds the maximum number of tokens/i,
  ],
  [
    'contentFiltered',
    /content[_ ](filter|management|policy)|responsible ?ai|safety (system|settings|check)|usage (policy|policies|guidelines)|flagged/i,
  ],
  [
    'authentication',
    /(invalid|incorrect)[_ ]api[_ ]key|api key not valid|authentication[_ ]error|permission[_ ](error|denied)/i,
  ],
  ['modelNotFound', /model[_ ]not[_ ]found|invalid[_ ]model|no such model|not_found_error/i],
  [
    'overloaded',
    /overloaded|server_error|internal[_ ]server|service[_ ]unavailable|unavailable|high demand|capacity/i,
  ],
  ['timeout', /timed? ?out|deadline[_ ]exceeded/i],
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

/** The call cannot be made: its messages, settings or headers are not valid. */
export class InvalidCallError extends Error {
  override readonly name = 'InvalidCallError';
}

/** The server sent a web page where the stream of an answer was due. */
export class WebPageError extends Error {
  override readonly name = 'WebPageError';
}

/** The response ended at a content filter before its first text. */
export class RefusedAnswerError extends Error {
  override readonly name = 'RefusedAnswerError';
}

/** True for the error of a conversation that refers to an item which OpenAI no longer has. */
export function isItemGone(error: unknown): boolean {
  return ITEM_GONE.test(wordsOf(error));
}

const ITEM_GONE = /\bitem (with id )?['"`]?\w+['"`]? (was )?not found/i;

/** The kind of a failure: by its class, then by the words of the provider, then by the HTTP status. */
export function errorKindOf(error: unknown): DriverErrorKind {
  return (
    kindOfClass(error) ?? kindOfAnswer(error, statusOf(error)) ?? (isTransient(error) ? 'network' : 'unknown')
  );
}

const REFUSALS: ReadonlySet<unknown> = new Set([401, 403]);

/**
 * True when a provider refused the key or the rights of the caller, or when such an error is a cause. Providers quote the
 * key in these texts, whole or in part, in wordings of their own: nothing of them may be shown or stored.
 */
export function isRefusal(error: unknown): boolean {
  return [error, ...withCauses(error)].some(
    (each) =>
      REFUSALS.has(statusOf(each)) ||
      REFUSALS.has(member(each, 'status')) ||
      (errorKindOf(each) === 'authentication' && !LoadAPIKeyError.isInstance(each)),
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
  if (typeof status === 'number') return status;
  return error instanceof Error ? undefined : streamedStatus(error);
}

/** The HTTP status in an error that a provider streams: OpenRouter and Google send it as the code. */
function streamedStatus(error: unknown): number | undefined {
  const codes = placesOf(error).map((place) => Number(member(place, 'code')));
  return codes.find((code) => Number.isInteger(code) && code >= 400 && code < 600);
}

/** Does the SDK mark the error as one that passes? */
function isTransient(error: unknown): boolean {
  return isSdkError(error) && error.isRetryable;
}

/** Does the SDK mark the error as one that repeats? */
function isFinal(error: unknown): boolean {
  return isSdkError(error) && !error.isRetryable && !isInterruption(error) && !isMarkedWrongly(error);
}

/**
 * True when the connection broke while a response arrived. The SDK marks such an error by the status of the call, which
 * was accepted, so its mark means nothing.
 */
function isInterruption(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status < 400 && (kindOfCodes(error) !== undefined || isTruncatedBody(error));
}

/** True for statuses whose providers advise to try again although the SDK does not: 424 of Bedrock, 498 of Groq. */
function isMarkedWrongly(error: unknown): boolean {
  const status = statusOf(error);
  return status === 424 || status === 498;
}

/** True when the base URL is not a URL, or when the server sent a body that is not JSON, such as a web page. */
export function isWrongAddress(error: unknown): boolean {
  if (error instanceof WebPageError || hasInvalidUrl(error)) return true;
  const call = apiCallError(error);
  return call?.statusCode !== undefined && call.statusCode < 400 && JSONParseError.isInstance(call.cause);
}

function hasInvalidUrl(error: unknown): boolean {
  return withCauses(error).some((each) => member(each, 'code') === 'ERR_INVALID_URL');
}

/** True when the body of an accepted call begins as JSON but does not parse: its connection ended too early. */
function isTruncatedBody(error: unknown): boolean {
  const call = apiCallError(error);
  if (call?.statusCode === undefined || call.statusCode >= 400) return false;
  return JSONParseError.isInstance(call.cause) && /^\s*[{[]/.test(call.cause.text);
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
  if (error instanceof UnfinishedAnswerError || isTruncatedBody(error)) return 'network';
  if (error instanceof RefusedDownloadError) return 'invalidRequest';
  if (error instanceof InvalidCallError || isItemGone(error)) return 'invalidRequest';
  if (error instanceof RefusedAnswerError) return 'contentFiltered';
  // The package of the gateway reports an invalid URL as status 500.
  if (hasInvalidUrl(error)) return 'unknown';
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
  if (status === 429) return kindOfLimit(wordsOf(error));
  // A word of a request that was refused for another reason must not hide that reason: only ambiguous statuses are read.
  const isAmbiguous = !isRefused || [400, 403, 422, 498].includes(status) || status >= 500;
  const words = isAmbiguous ? kindOfWords(error) : undefined;
  if (words) return words;
  if (isRefused) return BY_STATUS.get(status) ?? (status >= 500 ? 'overloaded' : 'invalidRequest');
  return kindOfCodes(error);
}

/**
 * The kind of a 429. Google uses the words of an exhausted quota for limits per minute too, and names the wait. Other
 * words, such as "server_error" or "too many tokens", do not change what the status states.
 */
function kindOfLimit(words: string): DriverErrorKind {
  const isDaily = /per[_ ]?day/i.test(words);
  const isShort = /retryDelay|please retry in/i.test(words) && !isDaily;
  const isQuota = BY_WORDS.some(([kind, pattern]) => kind === 'quotaExceeded' && pattern.test(words));
  return isQuota && !isShort ? 'quotaExceeded' : 'rateLimited';
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

/** The codes, types and messages of an error and of the objects that providers put around one: the start of each. */
export function wordsOf(error: unknown): string {
  const call = apiCallError(error);
  if (call) return `${capped(call.message)} ${capped(bodyOf(call))}`;
  if (typeof error === 'string') return capped(error);
  return placesOf(error)
    .flatMap((place) => ['code', 'type', 'status', 'message'].map((name) => member(place, name)))
    .filter((word) => typeof word === 'string')
    .map(capped)
    .join(' ');
}

/** The body as text. Some providers set the parsed body in place of the text that the type promises. */
function bodyOf(call: { readonly responseBody?: unknown }): string {
  const body = call.responseBody ?? '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** The objects in which a provider describes an error. */
function placesOf(error: unknown): readonly unknown[] {
  return [error, member(error, 'error'), member(member(error, 'response'), 'error')];
}

/** An error and its causes. */
function withCauses(error: unknown, depth = 0): readonly Error[] {
  return error instanceof Error && depth <= 4 ? [error, ...withCauses(error.cause, depth + 1)] : [];
}
