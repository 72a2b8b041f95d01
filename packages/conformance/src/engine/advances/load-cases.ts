import assert from 'node:assert/strict';
import { engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { SUSPENDED } from '../case/recorded-advances.ts';

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `session ${index}`);

const limits = [1, 3].map((concurrency) =>
  engineCase(`10 sessions are advanced, ${concurrency} at a time`, async (context) => {
    const { engine, serve, until, quiet, gate } = context;
    const works = new Map(names(10).map((id) => [id, gate()]));
    const begun = new Set<string>();
    let [underWay, most] = [0, 0];
    await serve(async ({ sessionId }) => {
      begun.add(sessionId);
      most = Math.max(most, ++underWay);
      await works.get(sessionId)?.promise;
      underWay--;
      return SUSPENDED;
    }, concurrency);
    for (const id of works.keys()) await engine.wake(id);
    for (let ended = 0; ended < works.size; ended++) {
      const expected = Math.min(works.size, ended + concurrency);
      await until(`${expected} sessions have begun after ${ended}`, () => begun.size >= expected);
      await quiet();
      assert.equal(begun.size, expected, 'The engine works on more sessions than its concurrency.');
      works.get([...begun][ended] ?? '')?.resolve();
    }
    await until('all advances end', () => underWay === 0);
    assert.ok(most <= concurrency, `${most} advances ran at once.`);
  }),
);

/** Cases with many sessions. */
export const loadCases: readonly UngroupedEngineCase[] = [
  ...limits,
  engineCase('1,000 sessions are all advanced', async ({ engine, serve, looks, until, turn }) => {
    await serve(() => turn().then(() => SUSPENDED), 50);
    await Promise.all(names(1_000).map((id) => engine.wake(id)));
    const seen = (): number => new Set(looks().map(({ sessionId }) => sessionId)).size;
    await until('half of the sessions are advanced', () => seen() >= 500);
    await until('all sessions are advanced', () => seen() === 1_000);
  }),
  engineCase('an advance that wakes other sessions does not exceed the concurrency', async (context) => {
    const { engine, serve, looks, until, quiet, gate } = context;
    const work = gate();
    await serve(async ({ sessionId }) => {
      if (sessionId !== 'a') return SUSPENDED;
      const wakes = names(3).map((id) => engine.wake(id));
      await Promise.all([work.promise, ...wakes]);
      return SUSPENDED;
    }, 1);
    await engine.wake('a');
    await until('the advance of "a" has started', () => looks('a').length > 0);
    await quiet();
    assert.equal(looks().length, 1, 'The engine works on more sessions than its concurrency.');
    work.resolve();
    await until('all sessions are advanced', () => names(3).every((id) => looks(id).length > 0));
  }),
  engineCase('a long advance does not delay other sessions', async (context) => {
    const { engine, serve, looks, until, gate } = context;
    const work = gate();
    await serve(async ({ sessionId }) => {
      if (sessionId === 'slow') await work.promise;
      return SUSPENDED;
    }, 2);
    for (const id of ['slow', ...names(20)]) await engine.wake(id);
    await until('all other sessions are advanced', () => names(20).every((id) => looks(id).length > 0));
  }),
];
