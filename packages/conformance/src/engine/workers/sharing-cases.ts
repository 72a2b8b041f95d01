import assert from 'node:assert/strict';
import {
  engineCase,
  type EngineContext,
  type RecordedEngine,
  type UngroupedEngineCase,
} from '../case/engine-case.ts';
import { advanced, SUSPENDED, YIELD } from '../case/recorded-advances.ts';

/** Parts of the time of a lock in which a case lets time pass, so that the engines can renew their locks. */
const PARTS_OF_LOCK = 10;

/** A case with two engines on one storage. */
const sharingCase = (
  name: string,
  act: (context: EngineContext, other: RecordedEngine) => Promise<void>,
): UngroupedEngineCase =>
  engineCase(name, async (context) => act(context, await context.reopen()), { needs: 'reopen' });

/** Lets the time of several locks pass. */
async function passLocks({ clock, lock, turn }: EngineContext, count: number): Promise<void> {
  for (let part = 0; part < count * PARTS_OF_LOCK; part++) {
    await clock.pass(lock / PARTS_OF_LOCK);
    await turn();
  }
}

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `session ${index}`);

const wakeUps = [
  sharingCase('a wake-up through one engine reaches the worker of the other', async (context, other) => {
    const { engine, looks, until } = context;
    await other.serve();
    for (const id of names(3)) {
      await engine.wake(id);
      await until(`"${id}" is advanced`, () => looks(id).length > 0);
    }
  }),
  sharingCase(
    'a wake-up through one engine is not dropped during an advance of the other',
    async (context, other) => {
      const { engine, looks, until, quiet, gate } = context;
      const work = gate();
      await other.serve(async () => {
        if (looks('a').length === 1) await work.promise;
        return SUSPENDED;
      });
      await engine.wake('a');
      await until('the advance of "a" has started', () => looks('a').length > 0);
      await engine.wake('a');
      await context.serve();
      await quiet();
      assert.equal(looks('a').length, 1, 'The engines advanced the session at the same time.');
      work.resolve();
      await until('"a" is advanced again', () => looks('a').length > 1);
    },
  ),
  sharingCase(
    'two engines never advance a session at the same time, and drop no wake-up',
    async (context, other) => {
      const { engine, serve, until, turn } = context;
      const [last, seen] = [new Set<string>(), new Set<string>()];
      for (const one of [serve, other.serve])
        await one(async ({ sessionId }) => {
          const isLast = last.has(sessionId);
          await turn();
          if (isLast) seen.add(sessionId);
          return SUSPENDED;
        }, 4);
      for (let round = 0; round < 10; round++) {
        if (round === 9) for (const id of names(20)) last.add(id);
        await Promise.all(names(20).flatMap((id) => [engine.wake(id), other.engine.wake(id)]));
      }
      await until('every session is advanced after its last wake-up', () => seen.size === 20);
    },
  ),
];

const work = [
  sharingCase('two engines work at the same time', async (context, other) => {
    const { engine, serve, looks, until, gate } = context;
    const end = gate();
    const act = () => end.promise.then(() => SUSPENDED);
    for (const one of [serve, other.serve]) await one(act, 1);
    for (const id of names(3)) await engine.wake(id);
    await until('two advances have started', () => looks().length >= 2);
    await context.quiet();
    assert.equal(looks().length, 2, 'An engine works on more sessions than its concurrency.');
    end.resolve();
    await until('all sessions are advanced', () => looks().length >= 3);
  }),
  sharingCase('a session that yields and sleeps is continued by either engine', async (context, other) => {
    const { engine, serve, looks, until, clock, soon } = context;
    const act = async () => {
      if (looks('a').length <= 5) return YIELD;
      return looks('a').length === 6 ? advanced({ type: 'sleep', until: clock.now() + soon }) : SUSPENDED;
    };
    for (const one of [serve, other.serve]) await one(act);
    await engine.wake('a');
    await until('"a" is advanced 6 times', () => looks('a').length >= 6);
    await context.turn();
    await clock.pass(soon);
    await until('"a" is advanced at its instant', () => looks('a').length >= 7);
  }),
  sharingCase('the stop of one worker leaves its sessions to the other at once', async (context, other) => {
    const { engine, serve, looks, until, ended, gate } = context;
    const end = gate();
    const served = await serve(() => end.promise.then(() => YIELD), 1);
    for (const id of ['a', 'b']) await engine.wake(id);
    await until('the advance of "a" has started', () => looks('a').length > 0);
    const stop = served.stop();
    end.resolve();
    await ended('stop resolves', stop);
    await other.serve();
    await until('both sessions are advanced', () => looks('a').length > 1 && looks('b').length > 0);
    await context.quiet();
    assert.equal(looks('b')[0]?.signal?.aborted, false);
  }),
  sharingCase('a long advance keeps its session: no other worker takes it', async (context, other) => {
    const { engine, serve, looks, until, gate, quiet } = context;
    const end = gate();
    await serve(() => end.promise.then(() => SUSPENDED));
    await engine.wake('a');
    await until('the advance of "a" has started', () => looks('a').length > 0);
    await other.serve();
    await passLocks(context, 3);
    await quiet();
    assert.equal(looks('a').length, 1, 'Another worker has taken the session.');
    assert.equal(looks('a')[0]?.signal?.aborted, false);
    end.resolve();
    await passLocks(context, 2);
    await quiet();
    assert.equal(looks('a').length, 1, 'The session was advanced again, without a wake-up.');
  }),
];

const lanes = [
  sharingCase('priorities hold for the wake-ups of both engines', async (context, other) => {
    const { engine, serve, looks, until } = context;
    await engine.wake('low', { priority: -1 });
    await other.engine.wake('high', { priority: 5 });
    await engine.wake('normal');
    await other.engine.wake('other high', { priority: 5 });
    await serve(undefined, 1);
    await until('all sessions are advanced', () => looks().length >= 4);
    const order = looks().map(({ sessionId }) => sessionId);
    assert.deepEqual(order, ['high', 'other high', 'normal', 'low']);
  }),
  sharingCase('lanes take turns among the wake-ups of both engines', async (context, other) => {
    const { engine, serve, looks, until } = context;
    for (let n = 0; n < 20; n++) await engine.wake(`busy ${n}`, { lane: 'busy' });
    await other.engine.wake('quiet', { lane: 'quiet' });
    for (const one of [serve, other.serve]) await one(undefined, 1);
    await until('all sessions are advanced', () => looks().length >= 21);
    const place = looks().findIndex(({ sessionId }) => sessionId === 'quiet');
    assert(place <= 4, `It was advanced as number ${place + 1} of 21.`);
  }),
  sharingCase('groups take turns among the wake-ups of both engines', async (context, other) => {
    const { engine, serve, looks, until } = context;
    for (let n = 0; n < 20; n++) await engine.wake(`busy ${n}`, { group: 'busy' });
    await other.engine.wake('quiet', { group: 'quiet' });
    for (const one of [serve, other.serve]) await one(undefined, 1);
    await until('all sessions are advanced', () => looks().length >= 21);
    const place = looks().findIndex(({ sessionId }) => sessionId === 'quiet');
    assert(place <= 4, `It was advanced as number ${place + 1} of 21.`);
  }),
  sharingCase('a throttled lane starts no session on the other engine', async (context, other) => {
    const { engine, serve, looks, until, clock, soon, quiet, ended } = context;
    const end = clock.now() + soon;
    const served = await serve(async ({ sessionId }) =>
      looks(sessionId).length > 1 ? SUSPENDED : advanced({ type: 'throttled', until: end, lane: 'x' }),
    );
    await engine.wake('a', { lane: 'x' });
    await until('"a" is advanced', () => looks('a').length > 0);
    await quiet();
    await ended('stop resolves', served.stop());
    await other.serve();
    await engine.wake('b', { lane: 'x' });
    await engine.wake('c', { lane: 'y' });
    await until('a session of another lane is advanced', () => looks('c').length > 0);
    await quiet();
    if (clock.earlyBy === 0) assert.equal(looks('b').length, 0, 'A session of the paused lane was advanced.');
    await clock.pass(soon);
    await until('"b" is advanced after the pause', () => looks('b').length > 0);
  }),
];

/** Two engines on one storage, each with a worker. */
export const sharingCases: readonly UngroupedEngineCase[] = [...wakeUps, ...work, ...lanes];
