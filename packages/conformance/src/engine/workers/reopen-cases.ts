import assert from 'node:assert/strict';
import type { AdvanceResult } from '@holdfast/core/engine';
import {
  assertLooksAt,
  engineCase,
  type EngineContext,
  type UngroupedEngineCase,
} from '../case/engine-case.ts';
import { HOSTILE_IDS } from '../../store/case/hostile-ids.ts';
import { advanced, SUSPENDED } from '../case/recorded-advances.ts';

const reopenCase = (name: string, act: (context: EngineContext) => Promise<void>): UngroupedEngineCase =>
  engineCase(name, act, { needs: 'reopen' });

/** Advances "a" once with this result, and stops the worker. */
async function advanceOnce(context: EngineContext, result: AdvanceResult): Promise<void> {
  const { engine, serve, looks, until, ended, gate } = context;
  const work = gate();
  const served = await serve(() => work.promise.then(() => result), 1);
  await engine.wake('a');
  await until('"a" is advanced', () => looks('a').length > 0);
  const stop = served.stop();
  work.resolve();
  await ended('stop resolves', stop);
}

const wakeUps = [
  reopenCase('a wake-up is stored when wake resolves', async ({ engine, reopen, looks, until }) => {
    await engine.wake('a');
    const { serve } = await reopen();
    await serve();
    await until('"a" is advanced', () => looks('a').length > 0);
  }),
  reopenCase('unusual ids are stored', async ({ engine, reopen, looks, until }) => {
    for (const id of HOSTILE_IDS) await engine.wake(id);
    const { serve } = await reopen();
    await serve();
    await until('every session is advanced', () => looks().length >= HOSTILE_IDS.length);
    assert.deepEqual(new Set(looks().map(({ sessionId }) => sessionId)), new Set(HOSTILE_IDS));
  }),
  reopenCase('the instant of a wake-up is stored', async (context) => {
    const at = context.clock.now() + context.soon;
    await context.engine.wake('a', { at });
    const { serve } = await context.reopen();
    await serve();
    await assertLooksAt(context, 'a', at);
  }),
  reopenCase('every instant of one session is stored', async (context) => {
    const { engine, clock, soon, reopen } = context;
    const now = clock.now();
    for (const times of [3, 1, 2]) await engine.wake('a', { at: now + times * soon });
    const { serve } = await reopen();
    await serve();
    for (const times of [1, 2, 3]) await assertLooksAt(context, 'a', now + times * soon, times - 1);
  }),
  reopenCase('an instant that comes while no engine works is late, and not dropped', async (context) => {
    const { engine, clock, soon, reopen, looks, until } = context;
    const now = clock.now();
    for (const [index, id] of ['a', 'b'].entries()) await engine.wake(id, { at: now + soon + index });
    await clock.pass(2 * soon);
    const { serve } = await reopen();
    await serve();
    await until('both sessions are advanced', () => ['a', 'b'].every((id) => looks(id).length > 0));
  }),
];

const following = [
  reopenCase('a session that yielded during a stop is advanced by the next engine', async (context) => {
    await advanceOnce(context, advanced({ type: 'yield' }, 'parent'));
    const { serve } = await context.reopen();
    await serve();
    const { looks, until } = context;
    await until('"a" is advanced again', () => looks('a').length > 1);
    await until('the session to wake is advanced', () => looks('parent').length > 0);
  }),
  reopenCase('a session that sleeps is advanced at its instant by the next engine', async (context) => {
    const until = context.clock.now() + context.soon;
    await advanceOnce(context, advanced({ type: 'sleep', until }));
    const { serve } = await context.reopen();
    await serve();
    await assertLooksAt(context, 'a', until, 1);
  }),
  reopenCase('a session that is suspended is not advanced by the next engine', async (context) => {
    await advanceOnce(context, SUSPENDED);
    const { serve } = await context.reopen();
    await serve();
    await context.clock.pass(context.lock);
    await context.quiet();
    assert.equal(context.looks('a').length, 1);
  }),
];

const lanes = [
  reopenCase('the priorities of wake-ups are stored', async ({ engine, reopen, looks, until }) => {
    for (const [id, priority] of [
      ['low', -1],
      ['normal', undefined],
      ['high', 5],
    ] as const)
      await engine.wake(id, { priority });
    const { serve } = await reopen();
    await serve(undefined, 1);
    await until('all sessions are advanced', () => looks().length >= 3);
    assert.deepEqual(
      looks().map(({ sessionId }) => sessionId),
      ['high', 'normal', 'low'],
    );
  }),
  reopenCase(
    'the lanes of wake-ups are stored: lanes take turns',
    async ({ engine, reopen, looks, until }) => {
      for (let n = 0; n < 20; n++) await engine.wake(`busy ${n}`, { lane: 'busy' });
      await engine.wake('quiet', { lane: 'quiet' });
      const { serve } = await reopen();
      await serve(undefined, 1);
      await until('all sessions are advanced', () => looks().length >= 21);
      const place = looks().findIndex(({ sessionId }) => sessionId === 'quiet');
      assert(place <= 3, `It was advanced as number ${place + 1} of 21.`);
    },
  ),
  reopenCase('the groups of wake-ups are stored: groups take turns', async (context) => {
    const { engine, reopen, looks, until } = context;
    for (let n = 0; n < 20; n++) await engine.wake(`busy ${n}`, { group: 'busy' });
    await engine.wake('quiet', { group: 'quiet' });
    const { serve } = await reopen();
    await serve(undefined, 1);
    await until('all sessions are advanced', () => looks().length >= 21);
    const place = looks().findIndex(({ sessionId }) => sessionId === 'quiet');
    assert(place <= 3, `It was advanced as number ${place + 1} of 21.`);
  }),
  reopenCase('the pause of a lane is stored', async (context) => {
    const { engine, clock, soon, reopen, looks, until, quiet } = context;
    await advanceOnce(context, advanced({ type: 'throttled', until: clock.now() + soon, lane: 'x' }));
    await engine.wake('b', { lane: 'x' });
    await engine.wake('c', { lane: 'y' });
    const { serve } = await reopen();
    await serve();
    await until('a session of another lane is advanced', () => looks('c').length > 0);
    await quiet();
    if (clock.earlyBy === 0) assert.equal(looks('b').length, 0, 'A session of the paused lane was advanced.');
    await clock.pass(soon);
    await until('both sessions are advanced', () => looks('a').length > 1 && looks('b').length > 0);
  }),
];

/** A new engine on the storage of an engine that does not work any more. */
export const reopenCases: readonly UngroupedEngineCase[] = [...wakeUps, ...following, ...lanes];
