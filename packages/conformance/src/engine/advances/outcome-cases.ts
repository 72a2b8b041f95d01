import assert from 'node:assert/strict';
import { assertLooksAt, engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { advanced, FINISHED, SUSPENDED, YIELD } from '../case/recorded-advances.ts';

const HOUR_MS = 3_600_000;

const goingOn = [
  engineCase(
    'a session that yields is advanced until it no longer yields',
    async ({ engine, serve, looks, until }) => {
      await serve(async () => (looks('a').length <= 5 ? YIELD : FINISHED));
      await engine.wake('a');
      await until('"a" is advanced 6 times', () => looks('a').length >= 6);
    },
  ),
  engineCase('a session that always yields does not block other sessions', async (context) => {
    const { engine, serve, looks, until, turn } = context;
    await serve(async ({ sessionId }) => {
      if (sessionId !== 'busy') return SUSPENDED;
      await turn();
      return looks('other').length > 0 ? SUSPENDED : YIELD;
    }, 1);
    await engine.wake('busy');
    await until('the advance of "busy" has started', () => looks('busy').length > 0);
    await engine.wake('other');
    await until('"other" is advanced', () => looks('other').length > 0);
  }),
  engineCase('a session that sleeps is advanced at its instant', async (context) => {
    const { engine, serve, clock, soon, looks, until } = context;
    const at = clock.now() + soon;
    await serve(async () => (looks('a').length === 1 ? advanced({ type: 'sleep', until: at }) : SUSPENDED));
    await engine.wake('a');
    await until('"a" is advanced', () => looks('a').length > 0);
    await assertLooksAt(context, 'a', at, 1);
  }),
  engineCase('a session that sleeps until an instant in the past is advanced now', async (context) => {
    const { engine, serve, clock, looks, until } = context;
    const sleep = advanced({ type: 'sleep', until: clock.now() - HOUR_MS });
    await serve(async () => (looks('a').length === 1 ? sleep : SUSPENDED));
    await engine.wake('a');
    await until('"a" is advanced again', () => looks('a').length >= 2);
  }),
  engineCase('a sleeping session can be woken, and is still advanced at its instant', async (context) => {
    const { engine, serve, clock, soon, looks, until } = context;
    const at = clock.now() + soon;
    await serve(async () => (looks('a').length === 1 ? advanced({ type: 'sleep', until: at }) : SUSPENDED));
    await engine.wake('a');
    await until('"a" is advanced', () => looks('a').length > 0);
    await engine.wake('a');
    await until('"a" is advanced again', () => looks('a').length >= 2);
    await assertLooksAt(context, 'a', at, 2);
  }),
  engineCase('a session that was woken during its advance does not sleep', async (context) => {
    const { engine, serve, clock, looks, until, gate } = context;
    const work = gate();
    await serve(async () => {
      if (looks('a').length > 1) return SUSPENDED;
      await work.promise;
      return advanced({ type: 'sleep', until: clock.now() + HOUR_MS });
    });
    await engine.wake('a');
    await until('the advance of "a" has started', () => looks('a').length > 0);
    await engine.wake('a');
    work.resolve();
    await until('"a" is advanced again', () => looks('a').length >= 2);
  }),
];

const resting = (['suspended', 'finished', 'lost'] as const).map((type) =>
  engineCase(`after the outcome ${type}, a session is not advanced until it is woken`, async (context) => {
    const { engine, serve, clock, looks, until, quiet } = context;
    await serve(async () => advanced({ type }));
    for (const count of [1, 2]) {
      await engine.wake('a');
      await until(`"a" is advanced`, () => looks('a').length >= count);
      await quiet();
      await clock.pass(1);
      await quiet();
      assert.equal(looks('a').length, count);
    }
  }),
);

const others = (['suspended', 'finished', 'yield', 'lost'] as const).map((type) =>
  engineCase(`after the outcome ${type}, the sessions to wake are advanced`, async (context) => {
    const { engine, serve, looks, until } = context;
    await serve(async ({ sessionId }) =>
      sessionId === 'a' && looks('a').length === 1 ? advanced({ type }, 'p', 'q', 'a') : SUSPENDED,
    );
    await engine.wake('a');
    await until('all three sessions are advanced', () => ['p', 'q'].every((id) => looks(id).length > 0));
    await until('"a" is advanced again', () => looks('a').length > 1);
  }),
);

/** The outcomes of an advance. */
export const outcomeCases: readonly UngroupedEngineCase[] = [...goingOn, ...resting, ...others];
