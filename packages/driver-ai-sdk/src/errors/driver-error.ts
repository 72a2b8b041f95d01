import {
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import {
  DriverError,
  type DriverErrorKind,
  type InferenceResponse,
  type RefusedPlace,
} from '@holdfast/core/driver';
import { apiCallError, statusOf } from './error-facts.ts';
import { errorKindOf, isRefusal, isRetryable, isWrongAddress } from './error-kind.ts';
import { requestIdOf } from '../response/http-facts.ts';
import { redact } from './redact.ts';
import { member } from '../values/member.ts';

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
 * error nor its causes hold keys, headers or bodies of requests: causes are copies with name, message, code and stack. Of
 * a text with which a provider refuses the key or the rights of the caller, as with the status 401 or 403, they hold
 * nothing.
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
    const { cause, secrets = [], partialResponse, refused } = options;
    super(kind, message, {
      data: Object.freeze(data),
      cause: cause && withoutSecrets(cause, secrets),
      isRetryable: data.isRetryable,
      retryAfterSeconds: data.retryAfterSeconds,
      partialResponse,
      refused,
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
  /** The place in the request that the provider refused. */
  readonly refused?: RefusedPlace | undefined;
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
  { secrets = [], partialResponse, refused }: AiSdkDriverErrorOptions,
): AiSdkDriverError {
  const { provider, modelId } = model;
  const statusCode = statusOf(error);
  const facts = [
    ...(isFailure(statusCode) ? [`HTTP ${statusCode}`] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(partialResponse ? ['its answer broke off'] : []),
  ];
  const found = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  const reason = isRefusal(error) ? '.' : `: ${sentence(safeMessageOf(error, secrets))}`;
  const message = `The model "${modelId}" of ${provider} failed${found}${reason}`;
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
    refused,
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
  contextTooLong: 'Shorten the messages.',
  contentFiltered: 'Change the messages that the provider filtered.',
  invalidRequest: 'Check the settings, tools and messages of the call.',
  emptyAnswer: 'Call another model.',
  brokenAnswer: 'Call another model.',
  unknown: 'See the cause.',
};

function adviceFor(kind: DriverErrorKind, error: unknown): string {
  return kind === 'unknown' && isWrongAddress(error) ? 'Check the base URL of the provider.' : ADVICE[kind];
}

/** A call that was accepted can still break off; its status then says nothing. */
function isFailure(statusCode: number | undefined): statusCode is number {
  return statusCode !== undefined && statusCode >= 400;
}

/** The error as listeners may see it: the error itself, unless it may quote a key. */
export function shownError(error: unknown): unknown {
  return isRefusal(error) ? withoutSecrets(error, []) : error;
}

/** A copy with name, message, code and stack, and the same of its causes. Of a refusal, the name. */
function withoutSecrets(error: unknown, secrets: readonly string[], depth = 0): Error {
  if (depth === 0 && isRefusal(error))
    return named(new Error('The text of a refusal is not shown.'), error, []);
  const message = safeMessageOf(error, secrets);
  const cause = error instanceof Error && depth < 4 ? error.cause : undefined;
  const options =
    cause === undefined || cause === null ? {} : { cause: withoutSecrets(cause, secrets, depth + 1) };
  const copy = named(new Error(message, options), error, framesOf(error));
  const code = member(error, 'code');
  return typeof code === 'string' ? Object.assign(copy, { code: redact(code, secrets) }) : copy;
}

/** Gives a copy the name of an error, and these lines of its stack. */
function named(copy: Error, error: unknown, frames: readonly string[]): Error {
  copy.name = error instanceof Error ? error.name : 'Error';
  copy.stack = [`${copy.name}: ${copy.message}`, ...frames].join('\n');
  return copy;
}

/** The lines of a stack below the message. A message can have lines that look like these. */
function framesOf(error: unknown): readonly string[] {
  const { message = '', stack = '' } = error instanceof Error ? error : {};
  const start = stack.indexOf(message);
  if (start === -1) return [];
  return stack
    .slice(start + message.length)
    .split('\n', MAX_FRAMES)
    .filter((line) => line.startsWith('    at '));
}

const MAX_FRAMES = 30;

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
