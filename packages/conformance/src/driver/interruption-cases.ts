import assert from 'node:assert/strict';
import type { InferenceDelta, InferenceResponse } from '@holdfast/core/driver';
import { heard, unheard, type DriverContext, type UngroupedDriverCase } from './driver-case.ts';
import {
  ADD,
  answer,
  assertUsage,
  inferred,
  membersOf,
  partialResponseOf,
  requestOf,
  textOfDeltas,
  withinPause,
} from './driver-calls.ts';
import { callWith, type Interruption, type ProviderReply } from './provider.ts';

const WAYS: readonly (readonly [interruption: Interruption, what: string])[] = [
  ['cut', 'whose connection is cut'],
  ['end', 'that ends before its finish'],
  ['error', 'that ends with an error'],
];
const BEGINNING = 'Once upon a time';
const SUM = callWith('call_1', 'add', { a: 1, b: 2 });
const OPEN_CALL = { id: 'call_2', name: 'add', arguments: '{"a":3,' };

/** An interrupted call. */
interface Broken {
  /** The part of the response that had arrived. */
  readonly partial: InferenceResponse | undefined;
  readonly deltas: readonly InferenceDelta[];
  readonly attempts: number;
  /** The error; `undefined` when the driver returned an unfinished response. */
  readonly error: unknown;
}

/**
 * Calls a driver whose response is interrupted, and asserts that the loop will not take it for a response: the driver
 * throws, or returns the finish reason `other` without a raw reason.
 */
async function broken(
  context: DriverContext,
  reply: Omit<Extract<ProviderReply, { type: 'interruption' }>, 'type'>,
): Promise<Broken> {
  const arrived = Promise.withResolvers<void>();
  const after = context.isHeard ? { after: arrived.promise } : {};
  const interruption: ProviderReply = { type: 'interruption', ...reply, ...after };
  const { driver, requests } = await context.create([interruption, interruption, interruption]);
  const deltas: InferenceDelta[] = [];
  const onHeard = (): void => {
    if (textOfDeltas(deltas, 'text').length >= (reply.text ?? '').length) arrived.resolve();
  };
  const request = requestOf('sums', { tools: [ADD] });
  const call = inferred(driver, request, { isHeard: context.isHeard, onHeard }, deltas);
  const [result] = await withinPause(context.abilities, Promise.allSettled([call]));
  const attempts = requests().length;
  if (result?.status === 'fulfilled') {
    const { response } = result.value;
    const { finishReason, rawFinishReason } = response;
    assert.deepEqual(
      [finishReason, rawFinishReason],
      ['other', undefined],
      'The response counts as finished.',
    );
    return { partial: response, deltas, attempts, error: undefined };
  }
  const error: unknown = result?.reason;
  assert.match(String(membersOf(error)['code']), /^DRIVER_/, `Unexpected error: ${String(error)}`);
  assert.equal(membersOf(error)['isRetryable'], true, 'An interrupted call may succeed later.');
  return { partial: partialResponseOf(error), deltas, attempts, error };
}

function waysOf(interruption: Interruption, what: string): readonly UngroupedDriverCase[] {
  const needs = ['streaming', interruption] as const;
  return [
    heard(`a text ${what} is never a finished response`, needs, async (context) => {
      const { partial, deltas, attempts } = await broken(context, { interruption, text: BEGINNING });
      assert.equal(partial?.text, BEGINNING, 'The partial response must have what arrived.');
      assert.equal(textOfDeltas(deltas, 'text'), BEGINNING);
      assert.equal(attempts, 1, 'A retry would send the deltas twice.');
    }),
    heard(`a response with calls ${what} is never a finished response`, needs, async (context) => {
      const { partial } = await broken(context, { interruption, text: BEGINNING, calls: [SUM] });
      assert.equal(partial?.text, BEGINNING);
    }),
  ];
}

/** Only what arrives in the stream itself certainly arrives before the interruption. */
const openCalls = WAYS.filter(([interruption]) => interruption !== 'cut').map(([interruption, what]) =>
  heard(`a call ${what} is never a complete call`, ['streaming', interruption], async (context) => {
    const reply = { interruption, text: BEGINNING, openCall: OPEN_CALL };
    const { partial } = await broken(context, reply);
    const complete = partial?.toolCalls.filter(({ invalid }) => invalid === undefined);
    assert.deepEqual(complete ?? [], []);
  }),
);

/** Requirements on responses that are interrupted. */
export const interruptionCases: readonly UngroupedDriverCase[] = [
  ...WAYS.flatMap(([interruption, what]) => waysOf(interruption, what)),
  ...openCalls,
  heard('the interruption "error" throws DRIVER_OVERLOADED', ['streaming', 'error'], async (context) => {
    const { error } = await broken(context, { interruption: 'error', text: BEGINNING });
    assert.equal(membersOf(error)['code'], 'DRIVER_OVERLOADED');
  }),
  heard('the usage of an interrupted response is returned', ['streaming', 'end'], async (context) => {
    const usage = { inputTokens: 20, outputTokens: 3 };
    const { partial, error } = await broken(context, { interruption: 'end', text: BEGINNING, usage });
    assertUsage(membersOf(error)['usage'] ?? partial?.usage, usage);
  }),
  unheard('a response that is cut is an error', ['cut'], async (context) => {
    const { partial } = await broken(context, { interruption: 'cut', text: BEGINNING });
    assert.notEqual(partial?.finishReason, 'stop');
  }),
  heard('a driver works after an interrupted response', ['streaming', 'cut'], async ({ create }) => {
    const cut = { type: 'interruption', interruption: 'cut', text: BEGINNING } as const;
    const { driver } = await create([cut, answer({ text: 'Again.' })]);
    await inferred(driver, requestOf('hello'), { isHeard: true }).catch(() => undefined);
    const { response, deltas } = await inferred(driver, requestOf('hello'), { isHeard: true });
    assert.equal(response.text, 'Again.');
    assert.equal(textOfDeltas(deltas, 'text'), 'Again.');
  }),
];
