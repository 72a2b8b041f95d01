import assert from 'node:assert/strict';
import { hasErrorCode } from '@holdfast/core';
import type { RunAbort } from '@holdfast/core';
import type { AdvanceResult, AdvanceOutcome, EngineWorker } from '@holdfast/core/engine';
import type { EngineContext, UngroupedEngineCase } from './engine-case.ts';
import { engineCase } from './engine-case.ts';
import { assertLooksAt } from './moment-cases.ts';
import { advanced, SUSPENDED } from './recorded-advances.ts';

interface Stopping {
  readonly served: EngineWorker;
  /** Has it said that it has stopped? */
  readonly hasStopped: () => boolean;
  /** Lets the work end, and waits for the stop. */
  readonly end: (outcome?: AdvanceResult) => Promise<void>;
}

/** An engine that is told to stop while it works on "a", one at a time, and others wait. */
async function stopping(
  { engine, serve, looks, until, ended, gate }: EngineContext,
  ...waiting: readonly string[]
): Promise<Stopping> {
  const work = gate();
  let outcome = SUSPENDED;
  const served = await serve(() => work.promise.then(() => outcome), 1);
  await engine.wake('a');
  await until('"a" is worked on', () => looks('a').length > 0);
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
      await ended('the stop', stop);
    },
  };
}

const ending = [
  engineCase('a stop is said to who is at work: a RunAbort of kind yield', async (context) => {
    const { engine, serve, looks, until, ended, gate } = context;
    const work = gate();
    const served = await serve(() => work.promise.then(() => SUSPENDED), 2);
    for (const id of ['a', 'b']) await engine.wake(id);
    await until('both are worked on', () => looks().length >= 2);
    for (const { signal } of looks()) assert.equal(signal?.aborted, false);
    const stop = served.stop();
    await until('both signals abort', () => looks().every(({ signal }) => signal?.aborted === true));
    for (const { signal } of looks()) {
      const reason: unknown = signal?.reason;
      assert(hasErrorCode(reason, 'RUN_ABORTED'), String(reason));
      assert.equal((reason as RunAbort).kind, 'yield');
    }
    work.resolve();
    await ended('the stop', stop);
  }),
  engineCase('a stop resolves when all that is under way has ended', async (context) => {
    const { quiet } = context;
    const { hasStopped, end } = await stopping(context);
    await quiet();
    assert.equal(hasStopped(), false);
    await end();
  }),
  engineCase('a stop of who does nothing resolves, and so does the next', async ({ serve, ended }) => {
    const served = await serve();
    await ended('the stop', served.stop());
    await ended('the second stop', served.stop());
  }),
  engineCase('nothing is begun after a stop', async (context) => {
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

/** What an advance may leave as its engine stops. */
const LEFT: Readonly<Record<string, (at: number) => AdvanceOutcome>> = {
  yields: () => ({ type: 'yield' }),
  sleeps: (until) => ({ type: 'sleep', until }),
};

const keeping = [
  engineCase('what waits, and what is woken during a stop and after it, is kept', async (context) => {
    const { engine, serve, looks, until } = context;
    const { end } = await stopping(context, 'b');
    for (const id of ['a', 'c']) await engine.wake(id);
    await end();
    await engine.wake('d');
    await serve();
    await until('what waits is looked at', () => looks('b').length > 0);
    await until('who was woken at work is looked at again', () => looks('a').length > 1);
    await until('who was woken meanwhile is looked at', () => looks('c').length > 0);
    await until('who was woken afterwards is looked at', () => looks('d').length > 0);
  }),
  ...Object.entries(LEFT).map(([what, outcome]) =>
    engineCase(`who ${what} as the engine stops is looked at by who serves next`, async (context) => {
      const { serve, clock, soon, looks } = context;
      const { end } = await stopping(context);
      const at = clock.now() + soon;
      await end(advanced(outcome(at)));
      await serve();
      if (what === 'sleeps') await assertLooksAt(context, 'a', at, 1);
      else await context.until('"a" is looked at again', () => looks('a').length >= 2);
    }),
  ),
  engineCase('who is to be woken by an advance that a stop ends is looked at', async (context) => {
    const { serve, looks, until } = context;
    const { end } = await stopping(context);
    await end(advanced({ type: 'finished' }, 'p'));
    await serve();
    await until('"p" is looked at', () => looks('p').length > 0);
  }),
  engineCase('a moment that was said before a stop is kept', async (context) => {
    const { engine, serve, clock, soon, ended } = context;
    const served = await serve();
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await ended('the stop', served.stop());
    await serve();
    await assertLooksAt(context, 'a', at);
  }),
  engineCase('who serves next is not told to stop, and not stopped by who served before', async (context) => {
    const { engine, serve, looks, until, ended, quiet } = context;
    const { served, end } = await stopping(context);
    await end();
    await serve();
    await ended('the second stop', served.stop());
    await quiet();
    await engine.wake('b');
    await until('"b" is looked at', () => looks('b').length > 0);
    assert.equal(looks('b')[0]?.signal?.aborted, false);
  }),
];

/** Stopping, and serving again. */
export const stopCases: readonly UngroupedEngineCase[] = [...ending, ...keeping];
