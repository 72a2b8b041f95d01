import assert from 'node:assert/strict';
import { assertLooksAt, engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { SUSPENDED } from '../case/recorded-advances.ts';

const DAY_MS = 86_400_000;

const waking = [
  engineCase('a session that is woken at an instant is advanced then, and not before', async (context) => {
    const { engine, serve, clock, soon } = context;
    await serve();
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await assertLooksAt(context, 'a', at);
  }),
  engineCase('an instant in the past means now', async ({ engine, serve, clock, looks, until }) => {
    await serve();
    const now = clock.now();
    for (const [index, at] of [now, now - 1, now - DAY_MS, 0].entries()) {
      await engine.wake(`session ${index}`, { at });
      await until(`"session ${index}" is advanced`, () => looks(`session ${index}`).length > 0);
    }
  }),
  engineCase('a session that is woken at several instants is advanced at each of them', async (context) => {
    const { engine, serve, clock, soon } = context;
    await serve();
    const now = clock.now();
    for (const times of [3, 1, 2]) await engine.wake('a', { at: now + times * soon });
    for (const times of [1, 2, 3]) await assertLooksAt(context, 'a', now + times * soon, times - 1);
  }),
  engineCase('a wake-up now does not wait for an earlier wake-up at an instant', async (context) => {
    const { engine, serve, clock, looks, until } = context;
    await serve();
    await engine.wake('a', { at: clock.now() + DAY_MS });
    await engine.wake('a');
    await until('"a" is advanced', () => looks('a').length > 0);
  }),
  engineCase('a wake-up at an instant is not dropped when the session is woken before', async (context) => {
    const { engine, serve, clock, soon, looks, until } = context;
    await serve();
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await engine.wake('a');
    await until('"a" is advanced', () => looks('a').length > 0);
    await assertLooksAt(context, 'a', at, 1);
  }),
  engineCase('a wake-up whose instant comes during an advance is not dropped', async (context) => {
    const { engine, serve, clock, soon, looks, until, quiet, gate } = context;
    const work = gate();
    await serve(async () => {
      if (looks('a').length === 1) await work.promise;
      return SUSPENDED;
    });
    await engine.wake('a');
    await until('the advance of "a" has started', () => looks('a').length > 0);
    await engine.wake('a', { at: clock.now() + soon });
    await clock.pass(soon);
    await quiet();
    assert.equal(looks('a').length, 1, 'The engine advanced the session twice at the same time.');
    work.resolve();
    await until('"a" is advanced again', () => looks('a').length >= 2);
  }),
];

const keeping = [
  engineCase('a wake-up at an instant, made before any worker serves, is not dropped', async (context) => {
    const { engine, serve, clock, soon, quiet, looks } = context;
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await quiet();
    assert.equal(looks().length, 0);
    await serve();
    await assertLooksAt(context, 'a', at);
  }),
  engineCase('an instant that comes before any worker serves is not dropped', async (context) => {
    const { engine, serve, clock, soon, quiet, looks, until } = context;
    await engine.wake('a', { at: clock.now() + soon });
    await clock.pass(soon);
    await quiet();
    assert.equal(looks().length, 0);
    await serve();
    await until('"a" is advanced', () => looks('a').length > 0);
  }),
  engineCase(
    'an instant can be further away than the longest timer',
    async (context) => {
      const { engine, serve, clock, turn } = context;
      await serve();
      const at = clock.now() + 60 * DAY_MS;
      await engine.wake('a', { at });
      await turn();
      for (let days = 0; days < 59; days++) await clock.pass(DAY_MS);
      await assertLooksAt(context, 'a', at);
    },
    { needs: 'clock' },
  ),
];

/** Wake-ups at an instant. */
export const momentCases: readonly UngroupedEngineCase[] = [...waking, ...keeping];
