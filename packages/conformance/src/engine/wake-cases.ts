import assert from 'node:assert/strict';
import { HOSTILE_IDS } from '../store/hostile-ids.ts';
import type { UngroupedEngineCase } from './engine-case.ts';
import { engineCase } from './engine-case.ts';
import { SUSPENDED } from './recorded-advances.ts';

/** An engine may wake too often, but not each time. */
const FEW = 10;

/** More than an engine in this process takes from a wake-up to the end of an advance that does nothing. */
const TURNS = 40;

/** Sessions are looked at when somebody says so. */
export const wakeCases: readonly UngroupedEngineCase[] = [
  engineCase('who is woken is looked at, each time', async (context) => {
    const { engine, serve, looks, until, quiet } = context;
    await serve();
    for (let count = 0; count < 3; count++) {
      const before = looks('a').length;
      await engine.wake('a');
      await until('"a" is looked at', () => looks('a').length > before);
      await quiet();
    }
  }),
  engineCase('who is woken before anybody serves is looked at then', async (context) => {
    const { engine, serve, looks, until, quiet } = context;
    for (const id of ['a', 'b', 'c']) await engine.wake(id);
    await quiet();
    assert.equal(looks().length, 0);
    await serve();
    await until('all are looked at', () => ['a', 'b', 'c'].every((id) => looks(id).length > 0));
  }),
  engineCase('100 wake-ups of one session are few looks', async ({ engine, serve, looks, until, quiet }) => {
    await Promise.all(Array.from({ length: 100 }, () => engine.wake('a')));
    await serve();
    await until('"a" is looked at', () => looks('a').length > 0);
    await quiet();
    assert(looks('a').length <= FEW, `It was looked at ${looks('a').length} times.`);
  }),
  engineCase('who is woken while it is worked on is looked at once more', async (context) => {
    const { engine, serve, looks, until, quiet, gate } = context;
    const first = gate();
    await serve(async () => {
      if (looks('a').length === 1) await first.promise;
      return SUSPENDED;
    });
    await engine.wake('a');
    await until('"a" is worked on', () => looks('a').length > 0);
    for (let count = 0; count < 100; count++) await engine.wake('a');
    await quiet();
    assert.equal(looks('a').length, 1, 'It was worked on twice at one time.');
    first.resolve();
    await until('"a" is looked at again', () => looks('a').length > 1);
    await quiet();
    assert(looks('a').length <= FEW, `It was looked at ${looks('a').length} times.`);
  }),
  engineCase('who is woken as the work on it ends, at any turn of that, is looked at', async (context) => {
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
    await until('every session is looked at after its last wake-up', () => seen.size === TURNS);
  }),
  engineCase('a session may wake itself while it is worked on', async ({ engine, serve, looks, until }) => {
    await serve(async ({ sessionId }) => {
      if (looks('a').length === 1) await engine.wake(sessionId);
      return SUSPENDED;
    });
    await engine.wake('a');
    await until('"a" is looked at again', () => looks('a').length >= 2);
  }),
  engineCase('a wake-up does not wait for the work', async (context) => {
    const { engine, serve, looks, until, ended, gate } = context;
    const work = gate();
    await serve(() => work.promise.then(() => SUSPENDED));
    await ended('the wake-up is kept', engine.wake('a'));
    await until('"a" is worked on', () => looks('a').length > 0);
    await ended('the wake-up during work is kept', engine.wake('a'));
  }),
  engineCase('sessions of any id are told apart', async ({ engine, serve, looks, until, quiet, clock }) => {
    await serve();
    for (const id of HOSTILE_IDS) await engine.wake(id);
    await until('every session is looked at', () => HOSTILE_IDS.every((id) => looks(id).length > 0));
    await quiet();
    assert.deepEqual(new Set(looks().map(({ sessionId }) => sessionId)), new Set(HOSTILE_IDS));
    const before = looks().length;
    for (const id of HOSTILE_IDS) await engine.wake(id, { at: clock.now() + 1 });
    await clock.pass(1);
    await until('every session is looked at again', () => looks().length >= before + HOSTILE_IDS.length);
  }),
];
