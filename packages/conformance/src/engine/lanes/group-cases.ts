import assert from 'node:assert/strict';
import type { Schedule } from '@holdfast/core/engine';
import { engineCase, type EngineContext, type UngroupedEngineCase } from '../case/engine-case.ts';
import { SUSPENDED, YIELD, type Act } from '../case/recorded-advances.ts';
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

/** The turns of the groups of sessions. */
export const groupCases: readonly UngroupedEngineCase[] = [
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
