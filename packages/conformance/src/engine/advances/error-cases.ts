import assert from 'node:assert/strict';
import { assertLooksAt, engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { advanced, SUSPENDED, type Look } from '../case/recorded-advances.ts';

/** More advances than an engine makes that pauses between two attempts. */
const FEW = 10;

/** Ends a loop that would leave no turn to the case. */
const never = (): Promise<never> => new Promise(() => undefined);

/** Errors of an advance: each is reported, and none leads to a loop. */
export const errorCases: readonly UngroupedEngineCase[] = [
  engineCase(
    'a session whose advance returned an error is advanced at its instant, and not before',
    async (context) => {
      const { engine, serve, clock, soon, looks, until, errors } = context;
      const at = clock.now() + soon;
      const error = new Error('No agent.');
      await serve(async () =>
        looks('a').length > 1 ? SUSPENDED : { ...advanced({ type: 'sleep', until: at }), error },
      );
      await engine.wake('a');
      await until('the error is received', () => errors().length > 0);
      await assertLooksAt(context, 'a', at, 1);
      assert.deepEqual(errors(), [{ sessionId: 'a', error }]);
    },
  ),
  engineCase(
    'an advance that always throws is not repeated without a pause',
    async ({ engine, serve, ...context }) => {
      const { looks, until, errors, quiet } = context;
      await serve(async () => {
        if (looks('a').length > FEW) await never();
        throw new Error('No store.');
      });
      await engine.wake('a');
      await until('the error is received', () => errors().length > 0);
      await quiet();
      assert(looks('a').length <= FEW, `The engine advanced the session ${looks('a').length} times.`);
      assert.equal(errors().length, looks('a').length);
    },
  ),
  engineCase('a suspended session whose advance returned an error is not advanced again', async (context) => {
    const { engine, serve, looks, until, errors, quiet } = context;
    await serve(async () =>
      looks('a').length > 1 ? never() : { ...SUSPENDED, error: new Error('A dead letter.') },
    );
    await engine.wake('a');
    await until('the error is received', () => errors().length > 0);
    await quiet();
    assert.equal(looks('a').length, 1, 'The engine advanced the session again.');
    assert.equal(errors().length, 1);
  }),
  engineCase('an onError that throws stops neither the engine nor other sessions', async (context) => {
    const { looks, until } = context;
    const act = async ({ sessionId }: Look) => {
      if (sessionId === 'bad') throw new Error('No store.');
      return SUSPENDED;
    };
    await context.serve(act, 1, () => {
      throw new Error('The log is full.');
    });
    await context.engine.wake('bad');
    await until('"bad" is advanced', () => looks('bad').length > 0);
    await context.engine.wake('good');
    await until('"good" is advanced', () => looks('good').length > 0);
  }),
];
