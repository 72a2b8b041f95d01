import assert from 'node:assert/strict';
import { hasErrorCode, type RunAbort } from '@holdfast/core';
import type { AdvanceResult, AdvanceOutcome, EngineWorker } from '@holdfast/core/engine';
import {
  assertLooksAt,
  engineCase,
  type EngineContext,
  type UngroupedEngineCase,
} from '../case/engine-case.ts';
import { advanced, SUSPENDED } from '../case/recorded-advances.ts';

interface Stopping {
  readonly served: EngineWorker;
  /** Returns whether the stop has resolved. */
  readonly hasStopped: () => boolean;
  /** Ends the work on "a", and waits for the stop. */
  readonly end: (outcome?: AdvanceResult) => Promise<void>;
}

/** Serves one session at a time, and stops the worker while it works on "a" and other sessions wait. */
async function stopping(
  { engine, serve, looks, until, ended, gate }: EngineContext,
  ...waiting: readonly string[]
): Promise<Stopping> {
  const work = gate();
  let outcome = SUSPENDED;
  const served = await serve(() => work.promise.then(() => outcome), 1);
  await engine.wake('a');
  await until('the advance of "a" has started', () => looks('a').length > 0);
  for (const id of waiting) await engine.wake(id);
  let hasStopped = false;
  const stop = served.stop().finally(() => {
    hasStopped = true;
  });
  return {
    served,
    hasStopped: () => hasStopped,
    async end(last = SUSPENDED) {
      outcome = last;
      work.resolve();
      await ended('stop resolves', stop);
    },
  };
}

const ending = [
  engineCase('a stop aborts running advances with a RunAbort of kind yield', async (context) => {
    const { engine, serve, looks, until, ended, gate } = context;
    const work = gate();
    const served = await serve(() => work.promise.then(() => SUSPENDED), 2);
    for (const id of ['a', 'b']) await engine.wake(id);
    await until('both advances have started', () => looks().length >= 2);
    for (const { signal } of looks()) assert.equal(signal?.aborted, false);
    const stop = served.stop();
    await until('both signals abort', () => looks().every(({ signal }) => signal?.aborted === true));
    for (const { signal } of looks()) {
      const reason: unknown = signal?.reason;
      assert(hasErrorCode(reason, 'RUN_ABORTED'), String(reason));
      assert.equal((reason as RunAbort).kind, 'yield');
    }
    work.resolve();
    await ended('stop resolves', stop);
  }),
  engineCase('a stop resolves when all running advances have ended', async (context) => {
    const { quiet } = context;
    const { hasStopped, end } = await stopping(context);
    await quiet();
    assert.equal(hasStopped(), false);
    await end();
  }),
  engineCase('a stop of an idle worker resolves, and so does a second stop', async ({ serve, ended }) => {
    const served = await serve();
    await ended('stop resolves', served.stop());
    await ended('the second stop resolves', served.stop());
  }),
  engineCase('no advance starts after a stop', async (context) => {
    const { engine, looks, quiet } = context;
    const { end } = await stopping(context, 'b');
    await engine.wake('c');
    await quiet();
    await end();
    await engine.wake('d');
    await quiet();
    assert.equal(looks().length, 1);
  }),
];

/** Outcomes of an advance during a stop that need another advance. */
const LEFT: Readonly<Record<string, (at: number) => AdvanceOutcome>> = {
  yields: () => ({ type: 'yield' }),
  sleeps: (until) => ({ type: 'sleep', until }),
};

const keeping = [
  engineCase('waiting wake-ups, and wake-ups during and after a stop, are not dropped', async (context) => {
    const { engine, serve, looks, until } = context;
    const { end } = await stopping(context, 'b');
    for (const id of ['a', 'c']) await engine.wake(id);
    await end();
    await engine.wake('d');
    await serve();
    await until('the waiting sessions are advanced', () => looks('b').length > 0);
    await until(
      'the session that was woken during its advance is advanced again',
      () => looks('a').length > 1,
    );
    await until('the session that was woken during the stop is advanced', () => looks('c').length > 0);
    await until('the session that was woken after the stop is advanced', () => looks('d').length > 0);
  }),
  ...Object.entries(LEFT).map(([what, outcome]) =>
    engineCase(`a session that ${what} during a stop is advanced by the next worker`, async (context) => {
      const { serve, clock, soon, looks } = context;
      const { end } = await stopping(context);
      const at = clock.now() + soon;
      await end(advanced(outcome(at)));
      await serve();
      if (what === 'sleeps') await assertLooksAt(context, 'a', at, 1);
      else await context.until('"a" is advanced again', () => looks('a').length >= 2);
    }),
  ),
  engineCase('the sessions to wake after an advance that a stop ends are advanced', async (context) => {
    const { serve, looks, until } = context;
    const { end } = await stopping(context);
    await end(advanced({ type: 'finished' }, 'p'));
    await serve();
    await until('"p" is advanced', () => looks('p').length > 0);
  }),
  engineCase('a wake-up at an instant, made before a stop, is not dropped', async (context) => {
    const { engine, serve, clock, soon, ended } = context;
    const served = await serve();
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await ended('stop resolves', served.stop());
    await serve();
    await assertLooksAt(context, 'a', at);
  }),
  engineCase('a stop of one worker does not stop the next', async (context) => {
    const { engine, serve, looks, until, ended, quiet } = context;
    const { served, end } = await stopping(context);
    await end();
    await serve();
    await ended('the second stop resolves', served.stop());
    await quiet();
    await engine.wake('b');
    await until('"b" is advanced', () => looks('b').length > 0);
    assert.equal(looks('b')[0]?.signal?.aborted, false);
  }),
];

/** Stopping, and serving again. */
export const stopCases: readonly UngroupedEngineCase[] = [...ending, ...keeping];
