import assert from 'node:assert/strict';
import type { InferenceDelta, InferenceResponse } from '@holdfast/core/driver';
import { both, heard, type DriverContext, type UngroupedDriverCase } from './driver-case.ts';
import {
  abortable,
  answer,
  inferred,
  partialResponseOf,
  requestOf,
  textOfDeltas,
  withinPause,
} from './driver-calls.ts';

/** A call that was aborted while the provider was silent. */
interface Aborted {
  /** The part of the response that had arrived, if the driver returned or threw one. */
  readonly partial: InferenceResponse | undefined;
  readonly attempts: number;
  /** Resolves when the driver has closed its connection. */
  readonly closed: Promise<void>;
}

/** Aborts a call when the listener has received `text`, or else when the provider has the request. */
async function aborted({ create, isHeard, abilities }: DriverContext, text?: string): Promise<Aborted> {
  const begun = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const onAsked = text === undefined ? begun.resolve : () => undefined;
  const silence = { type: 'silence', onAsked, onClosed: closed.resolve, ...(text && { text }) } as const;
  const { driver, requests } = await create([silence, answer({ text: 'late' })]);
  const { signal, abort } = abortable();
  const deltas: InferenceDelta[] = [];
  const onHeard = (): void => {
    if (textOfDeltas(deltas, 'text').length >= (text ?? '').length) begun.resolve();
  };
  const pending = inferred(driver, requestOf('hello'), { isHeard, signal, onHeard }, deltas);
  await withinPause(abilities, Promise.race([begun.promise, pending]));
  abort();
  const [result] = await withinPause(abilities, Promise.allSettled([pending]));
  const attempts = requests().length;
  if (result?.status === 'rejected')
    return { partial: partialResponseOf(result.reason), attempts, closed: closed.promise };
  assert.equal(result?.value.response.finishReason, 'aborted');
  return { partial: result?.value.response, attempts, closed: closed.promise };
}

/** Requirements on aborts. */
export const abortCases: readonly UngroupedDriverCase[] = [
  ...both('an abort ends a running call', [], async (context) => {
    const { attempts } = await aborted(context);
    assert(attempts <= 1, 'An aborted call must not be repeated.');
  }),
  ...both('a call whose signal is aborted never reaches the provider', [], async (context) => {
    const { driver, requests } = await context.create([answer({ text: 'late' })]);
    const { signal, abort } = abortable();
    abort();
    const call = inferred(driver, requestOf('hello'), { ...context, signal });
    const [result] = await Promise.allSettled([call]);
    if (result?.status === 'fulfilled') assert.equal(result.value.response.finishReason, 'aborted');
    assert.equal(requests().length, 0);
  }),
  heard(
    'deltas arrive while the provider writes, and an abort returns them',
    ['streaming'],
    async (context) => {
      const { partial, attempts } = await aborted(context, 'Once upon a time');
      assert.equal(partial?.text, 'Once upon a time');
      assert(attempts <= 1, 'An aborted call must not be repeated.');
    },
  ),
  ...both('an aborted call closes its connection', ['disconnects'], async (context) => {
    const { closed } = await aborted(context);
    await withinPause(context.abilities, closed, 'The connection is still open.');
  }),
  heard('a driver works after an abort', [], async ({ create, abilities }) => {
    const asked = Promise.withResolvers<void>();
    const { driver } = await create([
      { type: 'silence', onAsked: asked.resolve },
      answer({ text: 'Again.' }),
    ]);
    const { signal, abort } = abortable();
    const pending = inferred(driver, requestOf('hello'), { isHeard: true, signal });
    await withinPause(abilities, Promise.race([asked.promise, pending]));
    abort();
    await withinPause(abilities, Promise.allSettled([pending]));
    const { response } = await inferred(driver, requestOf('hello'), { isHeard: true });
    assert.equal(response.text, 'Again.');
  }),
];
