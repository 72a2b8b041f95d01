import assert from 'node:assert/strict';
import type { Instant } from '@holdfast/core';
import type { EngineContext, UngroupedEngineCase } from './engine-case.ts';
import { engineCase } from './engine-case.ts';
import { SUSPENDED } from './recorded-advances.ts';

const DAY = 86_400_000;

/**
 * Lets time pass up to a moment. The session is looked at then or later, and before it not more often than `earlier`
 * times in all.
 */
export async function assertLooksAt(
  { clock, looks, until, quiet }: EngineContext,
  sessionId: string,
  at: Instant,
  earlier = 0,
): Promise<void> {
  await clock.pass(Math.max(0, at - clock.now() - 1));
  await quiet();
  await clock.pass(Math.max(0, at - clock.now()));
  const from = at - clock.earlyBy;
  const isLookedAt = (): boolean => looks(sessionId).some((look) => look.at >= from);
  await until(`"${sessionId}" is looked at when it is time`, isLookedAt);
  const before = looks(sessionId).filter((look) => look.at < from);
  assert(before.length <= earlier, `It was looked at ${before.length} times before it was time.`);
}

const waking = [
  engineCase('who is woken at a moment is looked at then, and not before', async (context) => {
    const { engine, serve, clock, soon } = context;
    await serve();
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await assertLooksAt(context, 'a', at);
  }),
  engineCase('a moment that is over is now', async ({ engine, serve, clock, looks, until }) => {
    await serve();
    const now = clock.now();
    for (const [index, at] of [now, now - 1, now - DAY, 0].entries()) {
      await engine.wake(`session ${index}`, { at });
      await until(`"session ${index}" is looked at`, () => looks(`session ${index}`).length > 0);
    }
  }),
  engineCase('who is woken at several moments is looked at each time', async (context) => {
    const { engine, serve, clock, soon } = context;
    await serve();
    const now = clock.now();
    for (const times of [3, 1, 2]) await engine.wake('a', { at: now + times * soon });
    for (const times of [1, 2, 3]) await assertLooksAt(context, 'a', now + times * soon, times - 1);
  }),
  engineCase('who is woken now does not wait for a moment that was said before', async (context) => {
    const { engine, serve, clock, looks, until } = context;
    await serve();
    await engine.wake('a', { at: clock.now() + DAY });
    await engine.wake('a');
    await until('"a" is looked at', () => looks('a').length > 0);
  }),
  engineCase('a moment is not forgotten when the session is woken before', async (context) => {
    const { engine, serve, clock, soon, looks, until } = context;
    await serve();
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await engine.wake('a');
    await until('"a" is looked at', () => looks('a').length > 0);
    await assertLooksAt(context, 'a', at, 1);
  }),
  engineCase('a moment that comes while the session is worked on is not lost', async (context) => {
    const { engine, serve, clock, soon, looks, until, quiet, gate } = context;
    const work = gate();
    await serve(async () => {
      if (looks('a').length === 1) await work.promise;
      return SUSPENDED;
    });
    await engine.wake('a');
    await until('"a" is worked on', () => looks('a').length > 0);
    await engine.wake('a', { at: clock.now() + soon });
    await clock.pass(soon);
    await quiet();
    assert.equal(looks('a').length, 1, 'It was worked on twice at one time.');
    work.resolve();
    await until('"a" is looked at again', () => looks('a').length >= 2);
  }),
];

const keeping = [
  engineCase('a moment that was said before anybody serves is kept', async (context) => {
    const { engine, serve, clock, soon, quiet, looks } = context;
    const at = clock.now() + soon;
    await engine.wake('a', { at });
    await quiet();
    assert.equal(looks().length, 0);
    await serve();
    await assertLooksAt(context, 'a', at);
  }),
  engineCase('a moment that comes before anybody serves is kept', async (context) => {
    const { engine, serve, clock, soon, quiet, looks, until } = context;
    await engine.wake('a', { at: clock.now() + soon });
    await clock.pass(soon);
    await quiet();
    assert.equal(looks().length, 0);
    await serve();
    await until('"a" is looked at', () => looks('a').length > 0);
  }),
  engineCase(
    'a moment may be further away than a timer reaches',
    async (context) => {
      const { engine, serve, clock } = context;
      await serve();
      const at = clock.now() + 60 * DAY;
      await engine.wake('a', { at });
      for (let days = 0; days < 59; days++) await clock.pass(DAY);
      await assertLooksAt(context, 'a', at);
    },
    { needs: 'clock' },
  ),
];

/** Sessions are looked at when it is time. */
export const momentCases: readonly UngroupedEngineCase[] = [...waking, ...keeping];
