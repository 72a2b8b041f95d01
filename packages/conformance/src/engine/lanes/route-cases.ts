import assert from 'node:assert/strict';
import type { Schedule } from '@holdfast/core/engine';
import { assertLooksAt, engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { advanced, SUSPENDED, YIELD } from '../case/recorded-advances.ts';
import { followedBy } from './schedule-cases.ts';
import { sessionWorld } from '../case/session-world.ts';

const routes: readonly UngroupedEngineCase[] = [
  engineCase(
    'an advance has `route` for a wake-up without a lane, and not for one with a lane and a group',
    async ({ engine, serve, looks, until }) => {
      await engine.wake('a');
      await engine.wake('b', { lane: 'x', group: 'y' });
      await serve(); // a worker that polls must not find a session before its wake-up
      await until('both sessions are advanced', () => ['a', 'b'].every((id) => looks(id).length > 0));
      assert(looks('a')[0]?.route, 'The advance of a session without a lane has no `route`.');
      assert.equal(looks('b')[0]?.route, undefined);
    },
  ),
  engineCase(
    'a session that a wake-up without a lane reaches obeys the pause of its lane',
    async (context) => {
      const { engine, serve, clock, soon, looks, until, turn, quiet } = context;
      const end = clock.now() + soon;
      await serve(async ({ sessionId, route }) => {
        await turn();
        if (route) return followedBy(YIELD, { lane: 'x' });
        const isLimited = sessionId === 'limited' && clock.now() < end;
        return isLimited ? advanced({ type: 'throttled', until: end, lane: 'x' }) : SUSPENDED;
      });
      await engine.wake('limited', { lane: 'x' });
      await until('"limited" is advanced', () => looks('limited').length > 0);
      await quiet();
      await engine.wake('a');
      await until('"a" is advanced', () => looks('a').length > 0);
      await quiet();
      assert.equal(looks('a').length, 1, 'The session was advanced while its lane was paused.');
      await assertLooksAt(context, 'a', end, 1);
      await quiet();
      assert.equal(looks('a').length, 2, 'The session was routed twice.');
    },
    { needs: 'clock' },
  ),
];

/** The sessions of a case: each is woken with another part of its schedule. */
const partsOf = ({ lane, group }: Schedule): readonly (readonly [sessionId: string, part: Schedule])[] => [
  ['woken by its id', {}],
  ...(lane === undefined ? [] : [['woken with its lane', { lane }] as const]),
  ...(group === undefined ? [] : [['woken with its group', { group }] as const]),
];

/** Sessions with such a schedule work on three messages, the first of them in four steps, with a turn for each step. */
const turnsOf = (what: string, schedule: Schedule): UngroupedEngineCase =>
  engineCase(`sessions ${what} are advanced until their final response`, async ({ engine, serve, until }) => {
    const world = sessionWorld(undefined, undefined, () => schedule);
    await serve(({ sessionId, signal, suspects, route }) =>
      world.runtime.advance(sessionId, { signal, suspects, route, maxSteps: 1 }),
    );
    const sessions = partsOf(schedule);
    for (const message of [1, 2, 3]) {
      for (const [id, part] of sessions) {
        if (message === 1) await world.asked('worker', id);
        else await world.runtime.enqueue(id, { type: 'message', content: 'And again.' });
        await engine.wake(id, part);
      }
      for (const [id] of sessions)
        await until(`message ${message} of the session "${id}" has its response`, async () => {
          const { totals, state } = await world.runtime.get(id);
          return totals.executions === message && state.status === 'completed';
        });
    }
  });

/** The way of a session to its lane and its group, which its wake-up may not know. */
export const routeCases: readonly UngroupedEngineCase[] = [
  ...routes,
  turnsOf('without a lane and a group', {}),
  turnsOf('with a group and without a lane', { group: 'ann' }),
  turnsOf('with a lane and without a group', { lane: 'x' }),
  turnsOf('with a lane and a group', { lane: 'x', group: 'ann' }),
];
