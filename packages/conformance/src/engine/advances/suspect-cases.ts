import assert from 'node:assert/strict';
import { engineCase, type EngineContext, type UngroupedEngineCase } from '../case/engine-case.ts';
import { FINISHED, ISOLATE, YIELD, type Act } from '../case/recorded-advances.ts';

const MINUTE_MS = 60_000;
/** A time in milliseconds to wait for an engine that tries again by itself. */
const MOMENT_MS = 100;
const isSuspect = (sessionId: string): boolean => sessionId.startsWith('suspect');

/** An advance that isolates suspect sessions and finishes the others. */
const isolating: Act = async ({ sessionId }) => (isSuspect(sessionId) ? ISOLATE : FINISHED);

/** An advance of a session that is busy until a suspect session was advanced while no other was. */
function busyUntilAlone({ turn, looks }: EngineContext): {
  readonly act: Act;
  readonly wasAlone: () => boolean;
} {
  let [wasAlone, running] = [false, 0];
  const suspect = async (): Promise<boolean> => {
    for (let turns = 0; turns < 5; turns++) {
      if (running > 1) return false;
      await turn();
    }
    return running === 1 && looks('suspect').length > 1;
  };
  const act: Act = async ({ sessionId }) => {
    running++;
    try {
      if (!isSuspect(sessionId)) {
        await turn();
        return wasAlone ? FINISHED : YIELD;
      }
      wasAlone ||= await suspect();
      return wasAlone ? FINISHED : ISOLATE;
    } finally {
      running--;
    }
  };
  return { act, wasAlone: () => wasAlone };
}

/** Sessions whose last worker died: the engine advances them alone. */
export const suspectCases: readonly UngroupedEngineCase[] = [
  engineCase('a suspect session is advanced while no other is, and others continue', async (context) => {
    const { engine, serve, looks, until } = context;
    const { act, wasAlone } = busyUntilAlone(context);
    await serve(act, 2);
    for (const id of ['busy', 'suspect']) await engine.wake(id);
    await until('"suspect" is advanced while no other session is', wasAlone);
    await engine.wake('late');
    await until('"late" is advanced', () => looks('late').length > 0);
  }),
  engineCase('`isolated` advances suspect sessions one at a time, beside others', async (context) => {
    const { engine, serve, clock, looks, until, quiet, gate } = context;
    const work = gate();
    const isolatedIds: string[] = [];
    await serve(isolating, 2, undefined, async ({ sessionId, suspects }) => {
      assert.notEqual(suspects, 'refuse');
      isolatedIds.push(sessionId);
      await work.promise;
      return FINISHED;
    });
    for (const id of ['suspect 1', 'suspect 2']) await engine.wake(id);
    await until('a suspect session is isolated', () => isolatedIds.length > 0);
    await engine.wake('other');
    await until('"other" is advanced', () => looks('other').length > 0);
    await quiet();
    assert.equal(isolatedIds.length, 1, 'The engine isolated two sessions at the same time.');
    const inThisProcess = looks()
      .filter(({ suspects }) => suspects === 'refuse')
      .map(({ sessionId }) => sessionId);
    assert.deepEqual(new Set(inThisProcess), new Set(['suspect 1', 'suspect 2', 'other']));
    work.resolve();
    await until('the other suspect session is isolated', async () => {
      await clock.pass(MOMENT_MS);
      return isolatedIds.length === 2;
    });
    assert.deepEqual(new Set(isolatedIds), new Set(['suspect 1', 'suspect 2']));
  }),
  engineCase(
    'a suspect session whose isolated advance throws is reported, and isolated again later',
    async ({ engine, serve, clock, errors, until }) => {
      let attempts = 0;
      await serve(isolating, undefined, undefined, async () => {
        if (++attempts === 1) throw new Error('The process died.');
        return FINISHED;
      });
      await engine.wake('suspect');
      await until('the error is reported', () => errors().length === 1);
      await until('"suspect" is isolated again', async () => {
        await clock.pass(MINUTE_MS);
        return attempts === 2;
      });
    },
    { needs: 'clock' },
  ),
];
