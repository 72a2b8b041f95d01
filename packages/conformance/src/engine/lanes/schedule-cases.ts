import assert from 'node:assert/strict';
import type { AdvanceResult, Schedule } from '@holdfast/core/engine';
import {
  assertLooksAt,
  engineCase,
  type EngineContext,
  type UngroupedEngineCase,
} from '../case/engine-case.ts';
import { advanced, SUSPENDED, YIELD } from '../case/recorded-advances.ts';

/** The result of an advance, with the schedule of the next work. */
export const followedBy = (result: AdvanceResult, schedule: Schedule): AdvanceResult => ({
  ...result,
  next: { agentName: 'agent', ...schedule },
});

/** Ids of advanced sessions, in order. */
export const order = ({ looks }: EngineContext): readonly string[] =>
  looks().map(({ sessionId }) => sessionId);

/** The lane and the priority in the result of an advance, and the instant in the outcome `lost`. */
export const scheduleCases: readonly UngroupedEngineCase[] = [
  engineCase('after a yield, the session has the priority that the advance returned', async (context) => {
    const { engine, serve, looks, until, gate } = context;
    const work = gate();
    await serve(async ({ sessionId }) => {
      if (sessionId !== 'a' || looks('a').length > 1) return SUSPENDED;
      await work.promise;
      return followedBy(YIELD, { priority: 5 });
    }, 1);
    await engine.wake('a');
    await until('"a" is advanced', () => looks('a').length > 0);
    for (const id of ['b', 'c']) await engine.wake(id);
    work.resolve();
    await until('all sessions are advanced', () => looks().length >= 4);
    assert.deepEqual(order(context), ['a', 'a', 'b', 'c']);
  }),
  engineCase(
    'after a yield, the session is in the lane that the advance returned',
    async (context) => {
      const { engine, serve, clock, soon, looks, until, quiet } = context;
      const end = clock.now() + soon;
      await serve(async ({ sessionId }) => {
        if (looks(sessionId).length > 1) return SUSPENDED;
        return sessionId === 'limited'
          ? advanced({ type: 'throttled', until: end, lane: 'x' })
          : followedBy(YIELD, { lane: 'x' });
      });
      await engine.wake('limited', { lane: 'x' });
      await until('"limited" is advanced', () => looks('limited').length > 0);
      await quiet();
      await engine.wake('a');
      await until('"a" is advanced', () => looks('a').length > 0);
      await quiet();
      assert.equal(looks('a').length, 1, 'The session was advanced while its lane was paused.');
      await assertLooksAt(context, 'a', end, 1);
    },
    { needs: 'clock' },
  ),
  engineCase(
    'a session without a lane that a lane limit holds up is advanced at its instant',
    async (context) => {
      const { engine, serve, clock, soon, looks, until } = context;
      const at = clock.now() + soon;
      await serve(async ({ sessionId }) =>
        sessionId === 'a' && looks('a').length === 1
          ? advanced({ type: 'throttled', until: at, lane: 'x' })
          : SUSPENDED,
      );
      await engine.wake('a');
      await until('"a" is advanced', () => looks('a').length > 0);
      await engine.wake('b');
      await until('another session without a lane is advanced', () => looks('b').length > 0);
      await assertLooksAt(context, 'a', at, 1);
    },
  ),
  engineCase(
    'a session that was lost until an instant is not advanced before',
    async ({ engine, serve, clock, soon, looks, until, quiet }) => {
      const at = clock.now() + soon;
      await serve(async () => (looks('a').length > 1 ? SUSPENDED : advanced({ type: 'lost', until: at })));
      await engine.wake('a');
      await until('"a" is advanced', () => looks('a').length > 0);
      await clock.pass(soon - 1);
      await quiet();
      assert.equal(looks('a').length, 1);
    },
    { needs: 'clock' },
  ),
];
