import assert from 'node:assert/strict';
import type { UngroupedEngineCase } from './engine-case.ts';
import { engineCase } from './engine-case.ts';
import { assertLooksAt } from './moment-cases.ts';
import { advanced, FINISHED, SUSPENDED, YIELD } from './recorded-advances.ts';

const HOUR = 3_600_000;

const goingOn = [
  engineCase('who yields is looked at until it does not', async ({ engine, serve, looks, until }) => {
    await serve(async () => (looks('a').length <= 5 ? YIELD : FINISHED));
    await engine.wake('a');
    await until('"a" is looked at 6 times', () => looks('a').length >= 6);
  }),
  engineCase('who always yields lets others have their turn', async (context) => {
    const { engine, serve, looks, until, turn } = context;
    await serve(async ({ sessionId }) => {
      if (sessionId !== 'busy') return SUSPENDED;
      await turn();
      return looks('other').length > 0 ? SUSPENDED : YIELD;
    }, 1);
    await engine.wake('busy');
    await until('"busy" is worked on', () => looks('busy').length > 0);
    await engine.wake('other');
    await until('"other" is looked at', () => looks('other').length > 0);
  }),
  engineCase('who sleeps is looked at when it is time', async (context) => {
    const { engine, serve, clock, soon, looks, until } = context;
    const at = clock.now() + soon;
    await serve(async () => (looks('a').length === 1 ? advanced({ type: 'sleep', until: at }) : SUSPENDED));
    await engine.wake('a');
    await until('"a" is looked at', () => looks('a').length > 0);
    await assertLooksAt(context, 'a', at, 1);
  }),
  engineCase('who sleeps until a moment that is over is looked at now', async (context) => {
    const { engine, serve, clock, looks, until } = context;
    const sleep = advanced({ type: 'sleep', until: clock.now() - HOUR });
    await serve(async () => (looks('a').length === 1 ? sleep : SUSPENDED));
    await engine.wake('a');
    await until('"a" is looked at again', () => looks('a').length >= 2);
  }),
  engineCase('who sleeps can be woken, and still is looked at when it is time', async (context) => {
    const { engine, serve, clock, soon, looks, until } = context;
    const at = clock.now() + soon;
    await serve(async () => (looks('a').length === 1 ? advanced({ type: 'sleep', until: at }) : SUSPENDED));
    await engine.wake('a');
    await until('"a" is looked at', () => looks('a').length > 0);
    await engine.wake('a');
    await until('"a" is looked at again', () => looks('a').length >= 2);
    await assertLooksAt(context, 'a', at, 2);
  }),
  engineCase('who was woken while it was worked on does not sleep', async (context) => {
    const { engine, serve, clock, looks, until, gate } = context;
    const work = gate();
    await serve(async () => {
      if (looks('a').length > 1) return SUSPENDED;
      await work.promise;
      return advanced({ type: 'sleep', until: clock.now() + HOUR });
    });
    await engine.wake('a');
    await until('"a" is worked on', () => looks('a').length > 0);
    await engine.wake('a');
    work.resolve();
    await until('"a" is looked at again', () => looks('a').length >= 2);
  }),
];

const resting = (['suspended', 'finished', 'lost'] as const).map((type) =>
  engineCase(`who is ${type} is not looked at again until it is woken`, async (context) => {
    const { engine, serve, clock, looks, until, quiet } = context;
    await serve(async () => advanced({ type }));
    for (const count of [1, 2]) {
      await engine.wake('a');
      await until(`"a" is looked at`, () => looks('a').length >= count);
      await quiet();
      await clock.pass(1);
      await quiet();
      assert.equal(looks('a').length, count);
    }
  }),
);

const others = (['suspended', 'finished', 'yield', 'lost'] as const).map((type) =>
  engineCase(`who is to be woken after an advance is looked at, when it is ${type}`, async (context) => {
    const { engine, serve, looks, until } = context;
    await serve(async ({ sessionId }) =>
      sessionId === 'a' && looks('a').length === 1 ? advanced({ type }, 'p', 'q', 'a') : SUSPENDED,
    );
    await engine.wake('a');
    await until('all three are looked at', () => ['p', 'q'].every((id) => looks(id).length > 0));
    await until('"a" is looked at again', () => looks('a').length > 1);
  }),
);

/** What becomes of a session is done. */
export const outcomeCases: readonly UngroupedEngineCase[] = [...goingOn, ...resting, ...others];
