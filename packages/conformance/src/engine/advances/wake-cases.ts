import assert from 'node:assert/strict';
import { HOSTILE_IDS } from '../../store/case/hostile-ids.ts';
import { engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { SUSPENDED } from '../case/recorded-advances.ts';

/**
 * The maximum number of advances for many wake-ups. An engine may advance a session too often, but not once for each
 * wake-up.
 */
const FEW = 10;

/** More turns than an engine in this process needs from a wake-up to the end of an empty advance. */
const TURNS = 40;

/** Wake-ups without an instant. */
export const wakeCases: readonly UngroupedEngineCase[] = [
  engineCase('a session is advanced after each wake-up', async (context) => {
    const { engine, serve, looks, until, quiet } = context;
    await serve();
    for (let count = 0; count < 3; count++) {
      const before = looks('a').length;
      await engine.wake('a');
      await until('"a" is advanced', () => looks('a').length > before);
      await quiet();
    }
  }),
  engineCase('a session that is woken before any worker serves is advanced later', async (context) => {
    const { engine, serve, looks, until, quiet } = context;
    for (const id of ['a', 'b', 'c']) await engine.wake(id);
    await quiet();
    assert.equal(looks().length, 0);
    await serve();
    await until('all sessions are advanced', () => ['a', 'b', 'c'].every((id) => looks(id).length > 0));
  }),
  engineCase(
    '100 wake-ups of one session cause few advances',
    async ({ engine, serve, looks, until, quiet }) => {
      await Promise.all(Array.from({ length: 100 }, () => engine.wake('a')));
      await serve();
      await until('"a" is advanced', () => looks('a').length > 0);
      await quiet();
      assert(looks('a').length <= FEW, `The engine advanced the session ${looks('a').length} times.`);
    },
  ),
  engineCase('a session that is woken during its advance is advanced once more', async (context) => {
    const { engine, serve, looks, until, quiet, gate } = context;
    const first = gate();
    await serve(async () => {
      if (looks('a').length === 1) await first.promise;
      return SUSPENDED;
    });
    await engine.wake('a');
    await until('the advance of "a" has started', () => looks('a').length > 0);
    for (let count = 0; count < 100; count++) await engine.wake('a');
    await quiet();
    assert.equal(looks('a').length, 1, 'The engine advanced the session twice at the same time.');
    first.resolve();
    await until('"a" is advanced again', () => looks('a').length > 1);
    await quiet();
    assert(looks('a').length <= FEW, `The engine advanced the session ${looks('a').length} times.`);
  }),
  engineCase(
    'a session that is woken at any turn around the end of its advance is advanced again',
    async (context) => {
      const { engine, serve, until } = context;
      const [there, seen] = [new Set<string>(), new Set<string>()];
      await serve(async ({ sessionId }) => {
        if (there.has(sessionId)) seen.add(sessionId);
        return SUSPENDED;
      });
      for (let turns = 0; turns < TURNS; turns++) {
        const sessionId = `after ${turns} turns`;
        const first = engine.wake(sessionId);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        there.add(sessionId);
        await engine.wake(sessionId);
        await first;
      }
      await until('every session is advanced after its last wake-up', () => seen.size === TURNS);
    },
  ),
  engineCase('a session can wake itself during its advance', async ({ engine, serve, looks, until }) => {
    await serve(async ({ sessionId }) => {
      if (looks('a').length === 1) await engine.wake(sessionId);
      return SUSPENDED;
    });
    await engine.wake('a');
    await until('"a" is advanced again', () => looks('a').length >= 2);
  }),
  engineCase('a wake-up does not wait for running advances', async (context) => {
    const { engine, serve, looks, until, ended, gate } = context;
    const work = gate();
    await serve(() => work.promise.then(() => SUSPENDED));
    await ended('wake resolves', engine.wake('a'));
    await until('the advance of "a" has started', () => looks('a').length > 0);
    await ended('wake resolves during the advance', engine.wake('a'));
  }),
  engineCase(
    'sessions with unusual ids never collide',
    async ({ engine, serve, looks, until, quiet, clock }) => {
      await serve();
      for (const id of HOSTILE_IDS) await engine.wake(id);
      await until('every session is advanced', () => HOSTILE_IDS.every((id) => looks(id).length > 0));
      await quiet();
      assert.deepEqual(new Set(looks().map(({ sessionId }) => sessionId)), new Set(HOSTILE_IDS));
      const before = looks().length;
      for (const id of HOSTILE_IDS) await engine.wake(id, { at: clock.now() + 1 });
      await clock.pass(1);
      await until('every session is advanced again', () => looks().length >= before + HOSTILE_IDS.length);
    },
  ),
];
