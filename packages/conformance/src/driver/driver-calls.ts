import assert from 'node:assert/strict';
import { userMessage, type JsonObject, type Message } from '@holdfast/core';
import {
  DriverError,
  InferenceResponse,
  List,
  type Driver,
  type DriverErrorKind,
  type InferenceDelta,
  type InferenceRequest,
  type InferenceResponseInit,
  type ToolDescription,
} from '@holdfast/core/driver';
import type { DriverAbilities, DriverContext, DriverUnderTest } from './driver-case.ts';
import type { ProviderReply, ProviderRequest } from './provider.ts';

export const USAGE = { inputTokens: 11, outputTokens: 7 };
export const NUMBERS: JsonObject = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
};
export const ADD: ToolDescription = { name: 'add', description: 'Adds two numbers.', inputSchema: NUMBERS };
export const SUBTRACT: ToolDescription = { ...ADD, name: 'subtract', description: 'Subtracts two numbers.' };

/** An answer with the usual usage. */
export const answer = (reply: Omit<Extract<ProviderReply, { type: 'answer' }>, 'type'>): ProviderReply => ({
  type: 'answer',
  usage: USAGE,
  ...reply,
});

/** A request for these messages, with defaults for all other options. */
export function requestOf(
  messages: string | readonly Message[] | List<Message>,
  rest: Partial<Omit<InferenceRequest, 'messages'>> = {},
): InferenceRequest {
  return {
    messages: List.from(typeof messages === 'string' ? [userMessage(messages)] : messages),
    systemPrompt: undefined,
    tools: [],
    toolChoice: 'auto',
    responseFormat: undefined,
    llmConfig: undefined,
    ...structuredClone(rest), // A driver that writes into its request must not change the next case.
  };
}

/** A response, and the deltas that the listener received before it. */
export interface Inferred {
  readonly response: InferenceResponse;
  readonly deltas: readonly InferenceDelta[];
}

/** The options of a call. `onHeard` is called after each delta. */
interface CallOptions {
  readonly isHeard: boolean;
  readonly signal?: AbortSignal;
  readonly onHeard?: () => void;
}

/** Calls the driver. Without a listener there are no deltas. */
export async function inferred(
  driver: Driver,
  request: InferenceRequest,
  options: CallOptions,
  deltas: InferenceDelta[] = [],
): Promise<Inferred> {
  const hear = (delta: InferenceDelta): void => {
    deltas.push(delta);
    options.onHeard?.();
  };
  const onDelta = options.isHeard ? hear : undefined;
  const signal = options.signal ?? new AbortController().signal;
  return { response: InferenceResponse.of(await driver.infer(request, { signal, onDelta })), deltas };
}

/** Calls a new driver once. Returns its response. */
export async function respond(
  { create, isHeard }: DriverContext,
  reply: ProviderReply,
  request: InferenceRequest = requestOf('hello'),
): Promise<Inferred> {
  const { driver } = await create([reply]);
  return inferred(driver, request, { isHeard });
}

/** Calls a new driver once. Returns the request that the provider received. */
export async function sentBy(
  { create, isHeard }: DriverContext,
  request: InferenceRequest,
): Promise<ProviderRequest> {
  const { driver, requests } = await create([answer({ text: 'Done.' })]);
  await inferred(driver, request, { isHeard });
  const [sent, ...more] = requests();
  assert(sent, 'The provider received no request.');
  assert.equal(more.length, 0, 'The provider received more than one request.');
  return sent;
}

/** A call that failed. */
export interface Failed {
  readonly error: unknown;
  readonly deltas: readonly InferenceDelta[];
}

/** Calls a driver that must fail. Returns its error. */
export async function failed(
  { driver }: DriverUnderTest,
  { isHeard }: DriverContext,
  signal?: AbortSignal,
): Promise<Failed> {
  const deltas: InferenceDelta[] = [];
  const options = { isHeard, ...(signal && { signal }) };
  const call = inferred(driver, requestOf('hello'), options, deltas);
  const [result] = await Promise.allSettled([call]);
  if (result?.status === 'rejected') return { error: result.reason, deltas };
  assert.fail(`Expected an error, found the response ${JSON.stringify(result?.value.response)}.`);
}

/** Returns the members of an error. */
export function membersOf(error: unknown): Readonly<Record<string, unknown>> {
  return typeof error === 'object' && error !== null ? { ...error } : {};
}

/** Asserts that an error is a `DriverError` of a kind, with the code of the kind. */
export function assertKind(error: unknown, kind: DriverErrorKind): void {
  const expected = new DriverError(kind, 'Expected.');
  const { code, kind: found } = membersOf(error);
  assert.deepEqual(
    { kind: found, code },
    { kind, code: expected.code },
    `Unexpected error: ${String(error)}`,
  );
}

/** Returns the partial response that an error carries. */
export function partialResponseOf(error: unknown): InferenceResponse | undefined {
  const { partialResponse } = membersOf(error);
  return isResponse(partialResponse) ? InferenceResponse.of(partialResponse) : undefined;
}

function isResponse(value: unknown): value is InferenceResponseInit {
  return typeof value === 'object' && value !== null;
}

/** Returns the text of the deltas of a type, or of one part. */
export function textOfDeltas(
  deltas: readonly InferenceDelta[],
  type: InferenceDelta['type'],
  id?: string,
): string {
  return deltas
    .flatMap((delta) => (delta.type === type && (id ?? delta.id) === delta.id ? [delta.text] : []))
    .join('');
}

/** Asserts the numbers of tokens in a usage. */
export function assertUsage(usage: unknown, expected: typeof USAGE = USAGE): void {
  const { inputTokens, outputTokens } = membersOf(usage);
  assert.deepEqual({ inputTokens, outputTokens }, expected);
}

/** Creates a signal and the function that aborts it. */
export function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('Enough.')) };
}

/** Settles like the promise. Fails after the longest pause that a driver may make. */
export async function withinPause<T>(
  { pauseSeconds = 20 }: DriverAbilities,
  promise: Promise<T>,
  message = `The driver has done nothing for ${pauseSeconds} seconds.`,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new assert.AssertionError({ message })), pauseSeconds * 1_000);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

/** A signal that aborts after the longest pause that a driver may make. */
export function pauseLimit({ abilities: { pauseSeconds = 20 } }: DriverContext): AbortSignal {
  return AbortSignal.timeout(pauseSeconds * 1_000);
}
