import { APICallError, JSONParseError, TypeValidationError } from '@ai-sdk/provider';
import { member } from '../values/member.ts';
import { capped } from './cap.ts';

/**
 * The HTTP status of the answer to a call, when there was an answer. A provider can accept a call and then report an error
 * with a status of its own, in the body or in the stream, as OpenRouter and Google do: that one counts.
 */
export function statusOf(error: unknown): number | undefined {
  // A failed download of a file has a status too, which is not that of the model.
  if (error instanceof Error && !isSdkError(error) && !TypeValidationError.isInstance(error))
    return undefined;
  const status = apiCallError(error)?.statusCode ?? member(error, 'statusCode');
  if (isFailure(status)) return status;
  const reported = placesOf(error).map((place) => Number(member(place, 'code')));
  return reported.find(isFailure) ?? (typeof status === 'number' ? status : undefined);
}

function isFailure(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) < 600;
}

/** True when the provider accepted the call, whatever came after. The SDK marks errors by this status. */
export function isAccepted(error: unknown): boolean {
  const status = apiCallError(error)?.statusCode;
  return status !== undefined && status < 400;
}

/** True for an error of the SDK with a mark of whether the call may be repeated. */
export function isSdkError(error: unknown): error is { readonly isRetryable: boolean } {
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

/** True when the body of an accepted call is empty, or begins as JSON but does not parse: its connection ended too early. */
export function isTruncatedBody(error: unknown): boolean {
  return /^\s*([{[]|$)/.test(unparsedBody(error) ?? 'none');
}

/** The body of an accepted call that is not JSON; `undefined` for another error. */
export function unparsedBody(error: unknown): string | undefined {
  const cause = apiCallError(error)?.cause;
  return isAccepted(error) && JSONParseError.isInstance(cause) ? cause.text : undefined;
}

/** The value that the SDK could not read as an answer; `undefined` for another error. */
export function unreadValue(error: unknown): unknown {
  const wrong = [error, apiCallError(error)?.cause].find((each) => TypeValidationError.isInstance(each));
  return TypeValidationError.isInstance(wrong) ? wrong.value : undefined;
}

/** The codes, types and messages of an error and of the objects that providers put around one: the start of each. */
export function wordsOf(error: unknown): string {
  const call = apiCallError(error);
  if (call && unreadValue(error) === undefined) return `${capped(call.message)} ${capped(bodyOf(call))}`;
  if (typeof error === 'string') return capped(error);
  if (JSONParseError.isInstance(error) && /^\s*[{[]/.test(error.text)) return ''; // it quotes an answer
  return placesOf(error).flatMap(wordsIn).join(' ');
}

/** A text, or the words of an object as they stand in a body. */
function wordsIn(place: unknown): readonly string[] {
  if (typeof place === 'string') return [capped(place)];
  return ['code', 'type', 'status', 'message'].flatMap((name) => {
    const word = member(place, name);
    return typeof word === 'string' ? [`"${name}":"${capped(word)}"`] : [];
  });
}

/** The body as text. Some providers set the parsed body in place of the text that the type promises. */
function bodyOf(call: { readonly responseBody?: unknown }): string {
  const body = call.responseBody ?? '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** The objects in which a provider describes an error. The texts of an answer that could not be read are not read. */
function placesOf(error: unknown): readonly unknown[] {
  const around = unreadValue(error) ?? member(apiCallError(error), 'data') ?? error;
  return [around, member(around, 'error'), member(member(around, 'response'), 'error')];
}

/** An error and its causes. */
export function withCauses(error: unknown, depth = 0): readonly Error[] {
  return error instanceof Error && depth <= 4 ? [error, ...withCauses(error.cause, depth + 1)] : [];
}
