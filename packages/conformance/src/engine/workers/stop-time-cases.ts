import assert from 'node:assert/strict';
import { engineCase, type EngineContext, type UngroupedEngineCase } from '../case/engine-case.ts';
import { SUSPENDED } from '../case/recorded-advances.ts';

interface TimedStop {
  readonly stop: Promise<void>;
  readonly hasStopped: () => boolean;
  /** Ends the work on "a". */
  readonly end: () => void;
}

/** Stops a worker during its work on "a", with a limit of the time. */
async function stopWithin(context: EngineContext, withinSeconds: number): Promise<TimedStop> {
  const { engine, serve, looks, until, gate } = context;
  const work = gate();
  const served = await serve(() => work.promise.then(() => SUSPENDED), 1);
  await engine.wake('a');
  await until('the advance of "a" has started', () => looks('a').length > 0);
  let isDone = false;
  const stop = served.stop({ withinSeconds }).finally(() => {
    isDone = true;
  });
  return { stop, hasStopped: () => isDone, end: work.resolve };
}

/** Stops with a limit of the time. */
export const stopTimeCases: readonly UngroupedEngineCase[] = [
  engineCase('a stop resolves after withinSeconds although an advance still runs', async (context) => {
    const { clock, soon, quiet, ended, looks } = context;
    const { stop, hasStopped } = await stopWithin(context, soon / 1_000);
    assert.equal(looks('a')[0]?.signal?.aborted, true);
    if (clock.earlyBy === 0) {
      await clock.pass(soon - 1);
      await quiet();
      assert.equal(hasStopped(), false, 'The stop did not wait for the advance.');
    }
    await clock.pass(soon);
    await ended('stop resolves', stop);
  }),
  engineCase('a stop resolves before withinSeconds when the last advance has ended', async (context) => {
    const { quiet, ended } = context;
    const { stop, hasStopped, end } = await stopWithin(context, 3_600);
    await quiet();
    assert.equal(hasStopped(), false, 'The stop did not wait for the advance.');
    end();
    await ended('stop resolves', stop);
  }),
  engineCase('no advance starts after a stop that did not wait for the work', async (context) => {
    const { engine, clock, looks, quiet, ended } = context;
    const { stop, end } = await stopWithin(context, 0.001);
    await clock.pass(1);
    await ended('stop resolves', stop);
    await engine.wake('b');
    end();
    await quiet();
    assert.equal(looks('b').length, 0);
  }),
];
