import { mustBe, type InferenceRun } from '@holdfast/core/driver';
import { InvalidCallError } from '../errors/call-errors.ts';
import type { CalledModel } from '../values/called-model.ts';

/** HTTP headers by name. A header without a value is not sent. */
export type CallHeaders = Readonly<Record<string, string | undefined>>;

/** The call for which a function returns headers. */
export interface HeadersCall {
  readonly model: CalledModel;
  /** The run that calls the model, with its `runContext` and its state. Absent when no run does. */
  readonly run: InferenceRun | undefined;
}

/** The headers of every call, or a function that returns the headers of one call. */
export type HeadersOption = CallHeaders | ((call: HeadersCall) => CallHeaders | PromiseLike<CallHeaders>);

/**
 * True for an object whose members are strings or `undefined`. False for `Headers` and other iterables, whose entries are
 * not members and would get lost.
 */
export function isHeaders(value: unknown): value is CallHeaders {
  if (!mustBe.object.accepts(value) || Symbol.iterator in (value as object)) return false;
  return Object.values(value as object).every((text) => text === undefined || typeof text === 'string');
}

/** Returns the headers of one call. @throws InvalidCallError when it throws or returns no headers. */
export async function headersOf(
  option: Extract<HeadersOption, (call: HeadersCall) => unknown>,
  call: HeadersCall,
): Promise<CallHeaders> {
  let headers: unknown;
  try {
    headers = await option(call);
  } catch (error) {
    throw new InvalidCallError('The function "headers" of the driver failed.', { cause: error });
  }
  if (isHeaders(headers)) return headers;
  throw new InvalidCallError(
    'The function "headers" of the driver must return an object of strings, as in { "x-tenant": "acme" }.',
  );
}
