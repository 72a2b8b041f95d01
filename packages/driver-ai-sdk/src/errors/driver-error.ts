import {
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import type { DriverErrorKind, InferenceResponse } from '@holdfast/core/driver';
import { DriverError } from '@holdfast/core/driver';
import { apiCallError, errorKindOf, isRetryable, isWrongAddress, statusOf } from './error-kind.ts';
import { requestIdOf } from '../response/http-facts.ts';
import { redact } from './redact.ts';
import { member } from '../member.ts';

/** The facts about a failed call; JSON. */
export interface DriverErrorData {
  /** The provider's name, as in `openai.responses`; absent when no model was found. */
  readonly provider?: string;
  /** The id by which the model was called, or looked for. */
  readonly modelId: string;
  /** The HTTP status, when a response to the call arrived. */
  readonly statusCode?: number;
  /** True when the same call may succeed later. */
  readonly isRetryable: boolean;
  /** How often the model was called. */
  readonly attempts: number;
  /** The seconds after which the provider wants to be asked again, when it said so. */
  readonly retryAfterSeconds?: number;
  /** The provider's id of the HTTP request, which its support asks for. */
  readonly requestId?: string;
}

/**
 * A model was not found, or gave no usable answer. The `kind` and the code follow from the provider's answer. Neither the
 * error nor its causes hold keys, headers or bodies of requests: causes are copies with name, message, code and stack.
 */
export class AiSdkDriverError extends DriverError {
  /** The facts that are known about the call. */
  declare readonly data: DriverErrorData;
  /** The part of the response that had arrived. */
  declare readonly partialResponse: InferenceResponse | undefined;

  constructor(
    kind: DriverErrorKind,
    message: string,
    data: DriverErrorData,
    options: AiSdkDriverErrorOptions = {},
  ) {
    const { cause, secrets = [], partialResponse } = options;
    super(kind, message, {
      data: Object.freeze(data),
      cause: cause && withoutSecrets(cause, secrets),
      isRetryable: data.isRetryable,
      retryAfterSeconds: data.retryAfterSeconds,
      partialResponse,
    });
  }
}

/** The options of `AiSdkDriverError`. */
export interface AiSdkDriverErrorOptions {
  /** The error that the AI SDK threw; the new error holds a copy without secrets. */
  readonly cause?: unknown;
  /** Texts that must not appear in messages, such as the values of headers. */
  readonly secrets?: readonly string[];
  /** The part of the response that had arrived. */
  readonly partialResponse?: InferenceResponse | undefined;
}

/** A call that failed. */
export interface FailedCall {
  readonly model: { readonly provider: string; readonly modelId: string };
  readonly error: unknown;
  readonly attempts: number;
  readonly retryAfterSeconds: number | undefined;
  /** The id of the request whose response broke off. */
  readonly requestId?: string | undefined;
}

/** The error for a call that failed. */
export function callFailed(
  { model, error, attempts, retryAfterSeconds, requestId }: FailedCall,
  { secrets = [], partialResponse }: AiSdkDriverErrorOptions,
): AiSdkDriverError {
  const { provider, modelId } = model;
  const statusCode = statusOf(error);
  const facts = [
    ...(isFailure(statusCode) ? [`HTTP ${statusCode}`] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(partialResponse ? ['its answer broke off'] : []),
  ];
  const found = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  const message = `The model "${modelId}" of ${provider} failed${found}: ${sentence(safeMessageOf(error, secrets))}`;
  const request = requestIdOf(apiCallError(error)?.responseHeaders) ?? requestId;
  const data: DriverErrorData = {
    provider,
    modelId,
    ...(statusCode !== undefined && { statusCode }),
    isRetryable: isRetryable(error),
    attempts,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(request !== undefined && { requestId: request }),
  };
  const kind = errorKindOf(error);
  return new AiSdkDriverError(kind, `${message} ${adviceFor(kind, error)}`, data, {
    cause: error,
    secrets,
    partialResponse,
  });
}

const ADVICE: { readonly [K in DriverErrorKind]: string } = {
  rateLimited: 'Call the model less often, or raise the limit at the provider.',
  overloaded: 'Call it again later, or name a fallback model.',
  network: 'Check the connection and the base URL, or call it again later.',
  timeout: 'Call it again later, or name a fallback model.',
  authentication: 'Check the API key and its permissions.',
  quotaExceeded: 'Add credit or raise the quota at the provider.',
  modelNotFound: 'Check the model id and the base URL.',
  contextTooLong: 'Shorten the messages, for example with summaries.',
  contentFiltered: 'Change the messages that the provider filtered.',
  invalidRequest: 'Check the settings, tools and messages of the call.',
  unknown: 'See the cause.',
};

function adviceFor(kind: DriverErrorKind, error: unknown): string {
  return kind === 'unknown' && isWrongAddress(error) ? 'Check the base URL of the provider.' : ADVICE[kind];
}

/** A call that was accepted can still break off; its status then says nothing. */
function isFailure(statusCode: number | undefined): statusCode is number {
  return statusCode !== undefined && statusCode >= 400;
}

/** A copy with name, message, code and stack, and the same of its causes. */
function withoutSecrets(error: unknown, secrets: readonly string[], depth = 0): Error {
  const message = safeMessageOf(error, secrets);
  const cause = error instanceof Error && depth < 4 ? error.cause : undefined;
  const options =
    cause === undefined || cause === null ? {} : { cause: withoutSecrets(cause, secrets, depth + 1) };
  const copy = new Error(message, options);
  copy.name = error instanceof Error ? error.name : 'Error';
  const frames =
    error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  copy.stack = [`${copy.name}: ${message}`, ...frames].join('\n');
  const code = member(error, 'code');
  return typeof code === 'string' ? Object.assign(copy, { code: redact(code, secrets) }) : copy;
}

/** The error in words. Messages that quote a response or a prompt are replaced. */
function safeMessageOf(error: unknown, secrets: readonly string[]): string {
  if (TypeValidationError.isInstance(error) || InvalidResponseDataError.isInstance(error)) {
    return 'The response does not have the expected form.';
  }
  if (JSONParseError.isInstance(error)) return 'The response is not valid JSON.';
  if (InvalidPromptError.isInstance(error)) return 'The model does not accept the messages.';
  const found = error instanceof Error ? error.message : streamedMessage(error);
  return redact(found, secrets) || 'No reason was given.';
}

/** Providers stream errors as they get them: a text, or an object with a message somewhere in it. */
function streamedMessage(error: unknown): string {
  if (typeof error === 'string') return error;
  for (const place of [error, member(error, 'error'), member(member(error, 'response'), 'error')]) {
    const message = member(place, 'message');
    if (typeof message === 'string') return message;
  }
  return '';
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
