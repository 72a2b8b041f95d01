import {
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  NoContentGeneratedError,
  NoSuchModelError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import type { DriverErrorKind } from '@holdfast/core/driver';
import { RefusedDownloadError } from '../download/refused-download.ts';
import { member } from '../values/member.ts';
import { InvalidCallError, RefusedAnswerError, UnfinishedAnswerError, WebPageError } from './call-errors.ts';
import {
  apiCallError,
  isAccepted,
  isSdkError,
  isTruncatedBody,
  statusOf,
  unparsedBody,
  unreadValue,
  withCauses,
  wordsOf,
} from './error-facts.ts';
import { CORRECTABLE, KNOWN_MESSAGES, KNOWN_STATUSES } from './known-errors.ts';

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

/** True for a refusal that another form of the same call avoids. */
export function isCorrectable(error: unknown, refusal: keyof typeof CORRECTABLE): boolean {
  return CORRECTABLE[refusal].says.test(wordsOf(error));
}

/** The kind of a failure: by its class, then by the words of the provider, then by the HTTP status. */
export function errorKindOf(error: unknown): DriverErrorKind {
  const kind = kindOfClass(error) ?? kindOfAnswer(error, statusOf(error));
  if (kind !== undefined) return kind;
  if (isSdkError(error) && error.isRetryable) return 'network';
  return isNoAnswer(error) ? 'brokenAnswer' : 'unknown';
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

/** Does the SDK mark the error as one that repeats? Its mark of an accepted call says nothing. */
function isFinal(error: unknown): boolean {
  return isSdkError(error) && !error.isRetryable && !isAccepted(error) && !isMarkedWrongly(error);
}

/** True for statuses whose providers advise to try again although the SDK does not: 424 of Bedrock, 498 of Groq. */
function isMarkedWrongly(error: unknown): boolean {
  const status = statusOf(error);
  return status === 424 || status === 498;
}

/** True when the base URL is not a URL, or when the server sent a web page. */
export function isWrongAddress(error: unknown): boolean {
  if (error instanceof WebPageError || hasInvalidUrl(error)) return true;
  return /^\s*</.test(unparsedBody(error) ?? '');
}

function hasNoBody(error: unknown): boolean {
  return withCauses(error).some((each) => EmptyResponseBodyError.isInstance(each));
}

function hasInvalidUrl(error: unknown): boolean {
  return withCauses(error).some((each) => member(each, 'code') === 'ERR_INVALID_URL');
}

function kindOfClass(error: unknown): DriverErrorKind | undefined {
  if (error instanceof UnfinishedAnswerError || isTruncatedBody(error) || hasNoBody(error)) return 'network';
  if (error instanceof RefusedDownloadError) return 'invalidRequest';
  if (error instanceof InvalidCallError || isCorrectable(error, 'itemGone')) return 'invalidRequest';
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

/** Statuses that stand for several kinds: the words decide. Other refusals must not be hidden by a word of the request. */
const AMBIGUOUS: ReadonlySet<number> = new Set([400, 403, 422, 498]);

function kindOfAnswer(error: unknown, status: number | undefined): DriverErrorKind | undefined {
  const isRefused = status !== undefined && status >= 400;
  const words = wordsOf(error);
  if (status === 429) return kindOfLimit(words);
  const isRead = !isRefused || AMBIGUOUS.has(status) || status >= 500;
  const kind = isRead ? kindOfWords(words, status) : undefined;
  if (kind) return kind;
  if (!isRefused) return kindOfCodes(error);
  const known = KNOWN_STATUSES.find((row) => row.status === status)?.kind;
  return known ?? (status >= 500 ? 'overloaded' : 'invalidRequest');
}

function kindOfWords(words: string, status?: number): DriverErrorKind | undefined {
  if (words === '') return undefined;
  const isFailure = status === undefined || status < 400 || status >= 500;
  return KNOWN_MESSAGES.find((row) => {
    const isFor = row.status === 'failure' ? isFailure : (row.status ?? status) === status;
    return isFor && row.says?.test(words);
  })?.kind;
}

/**
 * The kind of a 429. Google uses the words of an exhausted quota for limits per minute too, and names the wait. Other
 * words, such as "server_error" or "too many tokens", do not change what the status states.
 */
function kindOfLimit(words: string): DriverErrorKind {
  const isDaily = /per[_ ]?day/i.test(words);
  const isShort = /retryDelay|please retry in/i.test(words) && !isDaily;
  return !isShort && kindOfWords(words) === 'quotaExceeded' ? 'quotaExceeded' : 'rateLimited';
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

/** True when the provider accepted the call and sent something else than an answer: an error, or a value of another form. */
function isNoAnswer(error: unknown): boolean {
  if (isWrongAddress(error)) return false;
  if (!(error instanceof Error)) return typeof error === 'string' || isObject(error);
  return (
    unreadValue(error) !== undefined ||
    InvalidResponseDataError.isInstance(error) ||
    JSONParseError.isInstance(error) ||
    NoContentGeneratedError.isInstance(error) ||
    unparsedBody(error) !== undefined ||
    (isAccepted(error) && member(apiCallError(error), 'data') !== undefined)
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
