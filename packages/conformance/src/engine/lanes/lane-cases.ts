import assert from 'node:assert/strict';
import { engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { advanced, SUSPENDED } from '../case/recorded-advances.ts';

/** The order of work: lanes, priorities, and what holds a lane up. */
export const laneCases: readonly UngroupedEngineCase[] = [
  engineCase('after the outcome throttled, the session is advanced at its moment', async (context) => {
    const { engine, serve, clock, soon, looks, until, quiet } = context;
    await serve(async () =>
      looks('a').length > 1
        ? SUSPENDED
        : advanced({ type: 'throttled', until: clock.now() + soon, lane: 'x' }),
    );
    await engine.wake('a', { lane: 'x' });
    await until('"a" is advanced', () => looks('a').length > 0);
    await quiet();
    if (clock.earlyBy === 0) assert.equal(looks('a').length, 1);
    await clock.pass(soon);
    await until('"a" is advanced again', () => looks('a').length > 1);
    const [first, second] = looks('a');
    assert(first && second && second.at - first.at >= soon - clock.earlyBy, 'It was advanced too early.');
  }),
  engineCase(
    'a throttled lane starts no session, and other lanes continue',
    async (context) => {
      const { engine, serve, clock, soon, looks, until, quiet } = context;
      await serve(async ({ sessionId }) =>
        sessionId === 'a' && looks('a').length === 1
          ? advanced({ type: 'throttled', until: clock.now() + soon, lane: 'x' })
          : SUSPENDED,
      );
      await engine.wake('a', { lane: 'x' });
      await until('"a" is advanced', () => looks('a').length > 0);
      await quiet();
      await engine.wake('b', { lane: 'x' });
      await engine.wake('c', { lane: 'y' });
      await engine.wake('d');
      await until('sessions of other lanes are advanced', () =>
        ['c', 'd'].every((id) => looks(id).length > 0),
      );
      await quiet();
      assert.equal(looks('b').length, 0, 'A session of the throttled lane was advanced.');
      await clock.pass(soon);
      await until('"b" is advanced after the pause', () => looks('b').length > 0);
    },
    { needs: 'clock' },
  ),
  engineCase('a session of a higher priority is advanced first', async (context) => {
    const { engine, serve, looks, until, gate } = context;
    const work = gate();
    await serve(async ({ sessionId }) => {
      if (sessionId === 'first') await work.promise;
      return SUSPENDED;
    }, 1);
    await engine.wake('first');
    await until('"first" is advanced', () => looks('first').length > 0);
    for (const [id, priority] of [
      ['low', -1],
      ['normal', 0],
      ['high', 5],
      ['other high', 5],
    ] as const)
      await engine.wake(id, { priority });
    work.resolve();
    await until('all sessions are advanced', () => looks().length >= 5);
    const order = looks().map(({ sessionId }) => sessionId);
    assert.deepEqual(order, ['first', 'high', 'other high', 'normal', 'low']);
  }),
  engineCase('lanes take turns: a long queue of one lane does not hold up another', async (context) => {
    const { engine, serve, looks, until, gate } = context;
    const work = gate();
    await serve(async ({ sessionId }) => {
      if (sessionId === 'first') await work.promise;
      return SUSPENDED;
    }, 1);
    await engine.wake('first', { lane: 'busy' });
    await until('"first" is advanced', () => looks('first').length > 0);
    for (let n = 0; n < 20; n++) await engine.wake(`busy ${n}`, { lane: 'busy' });
    await engine.wake('quiet', { lane: 'quiet' });
    work.resolve();
    await until('all sessions are advanced', () => looks().length >= 22);
    const place = looks().findIndex(({ sessionId }) => sessionId === 'quiet');
    assert(place <= 3, `It was advanced as number ${place + 1} of 22.`);
  }),
  engineCase(
    'after the outcome lost with a moment, the session is advanced at that moment',
    async (context) => {
      const { engine, serve, clock, soon, looks, until, quiet } = context;
      await serve(async () =>
        looks('a').length > 1 ? SUSPENDED : advanced({ type: 'lost', until: clock.now() + soon }),
      );
      await engine.wake('a');
      await until('"a" is advanced', () => looks('a').length > 0);
      await quiet();
      await clock.pass(soon);
      await until('"a" is advanced again', () => looks('a').length > 1);
    },
  ),
  engineCase(
    'onError receives the error that an advance threw, and the error that it returned',
    async (context) => {
      const { engine, serve, errors, until } = context;
      const [thrown, returned] = [new Error('thrown'), new Error('returned')];
      await serve(async ({ sessionId }) => {
        if (sessionId === 'a') throw thrown;
        return { ...SUSPENDED, error: returned };
      });
      await engine.wake('a');
      await engine.wake('b');
      await until('both errors are received', () => errors().length >= 2);
      const received = errors().toSorted((left, right) =>
        `${left.sessionId}`.localeCompare(`${right.sessionId}`),
      );
      assert.deepEqual(received.slice(0, 2), [
        { sessionId: 'a', error: thrown },
        { sessionId: 'b', error: returned },
      ]);
    },
  ),
];
