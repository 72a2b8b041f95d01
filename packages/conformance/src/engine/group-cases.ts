import assert from 'node:assert/strict';
import type { Schedule } from '@holdfast/core/engine';
import type { EngineContext, UngroupedEngineCase } from './engine-case.ts';
import { engineCase } from './engine-case.ts';
import { assertLooksAt } from './moment-cases.ts';
import type { Act } from './recorded-advances.ts';
import { advanced, SUSPENDED, YIELD } from './recorded-advances.ts';
import { followedBy, order } from './schedule-cases.ts';

/** Starts a worker of one session at a time, and wakes `sessions` while it works on "first". */
async function wakeDuring(
  { engine, serve, looks, until, gate }: EngineContext,
  sessions: readonly (readonly [id: string, schedule: Schedule])[],
  act: Act = async () => SUSPENDED,
): Promise<void> {
  const work = gate();
  await serve(async (look) => {
    if (looks('first').length === 1 && look.sessionId === 'first') await work.promise;
    return act(look);
  }, 1);
  await engine.wake('first', { group: 'busy' });
  await until('"first" is advanced', () => looks('first').length > 0);
  for (const [id, schedule] of sessions) await engine.wake(id, schedule);
  work.resolve();
}

const BUSY = Array.from({ length: 20 }, (_, index) => [`busy ${index}`, { group: 'busy' }] as const);

const groups = [
  engineCase('groups take turns: a long queue of one group does not hold up another', async (context) => {
    await wakeDuring(context, [...BUSY, ['quiet', { group: 'quiet' }]]);
    await context.until('all sessions are advanced', () => context.looks().length >= 22);
    const place = order(context).indexOf('quiet');
    assert(place <= 3, `It was advanced as number ${place + 1} of 22.`);
  }),
  engineCase(
    'a session of a higher priority is advanced before the turn of another group',
    async (context) => {
      await wakeDuring(context, [
        ['a', { group: 'x' }],
        ['b', { group: 'y', priority: 1 }],
        ['c', { group: 'y', priority: 1 }],
        ['d', { group: 'y', priority: 5 }],
      ]);
      await context.until('all sessions are advanced', () => context.looks().length >= 5);
      assert.deepEqual(order(context), ['first', 'd', 'b', 'c', 'a']);
    },
  ),
  engineCase('after a yield, the session is in the group that the advance returned', async (context) => {
    const { looks, until } = context;
    const others = BUSY.map(([id]) => [`without a group, ${id}`, {}] as const);
    await wakeDuring(context, [...BUSY, ...others], async ({ sessionId }) =>
      sessionId === 'first' && looks('first').length === 1
        ? followedBy(YIELD, { group: 'quiet' })
        : SUSPENDED,
    );
    await until('all sessions are advanced', () => looks().length >= 42);
    const place = order(context).lastIndexOf('first');
    assert(place <= 4, `It was advanced again as number ${place + 1} of 42.`);
  }),
];

const routes = [
  engineCase(
    'an advance has `route` for a wake-up without a lane, and not for one with a lane',
    async ({ engine, serve, looks, until }) => {
      await serve();
      await engine.wake('a');
      await engine.wake('b', { lane: 'x' });
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

/** The groups of sessions, and the way of a session to its lane. */
export const groupCases: readonly UngroupedEngineCase[] = [...groups, ...routes];
