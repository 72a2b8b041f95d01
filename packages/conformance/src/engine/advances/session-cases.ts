import assert from 'node:assert/strict';
import { sweep } from '@holdfast/core/engine';
import { engineCase, type EngineContext, type UngroupedEngineCase } from '../case/engine-case.ts';
import { InterleavedApprovals } from '../case/interleaved-approvals.ts';
import type { Act } from '../case/recorded-advances.ts';
import { LEASE_SECONDS, MAX_ATTEMPTS, sessionWorld, type SessionWorld } from '../case/session-world.ts';

const LEASE_MS = LEASE_SECONDS * 1_000;

/** More sessions than a page of `due` has. */
const MORE_THAN_A_PAGE = 105;

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `session ${index}`);

/** An advance of one step. */
const stepwise =
  ({ runtime }: SessionWorld): Act =>
  ({ sessionId, signal, suspects }) =>
    runtime.advance(sessionId, { signal, suspects, maxSteps: 1 });

/** Sweeps, and returns the number of sessions that the sweep woke. */
async function wokenBySweep({ store }: SessionWorld, engine: EngineContext['engine']): Promise<number> {
  return (await sweep(store, engine)).woken;
}

const working = [
  engineCase('sessions are advanced step by step until their final response', async (context) => {
    const { engine, serve, until, quiet } = context;
    const world = sessionWorld();
    await serve(stepwise(world), 2);
    for (const id of names(5)) {
      await world.asked('worker', id);
      await engine.wake(id);
    }
    await until('all executions are completed', () => world.areCompleted(names(5)));
    assert.deepEqual([world.calls.length, new Set(world.calls).size], [15, 15]);
    await quiet();
    assert.equal(await wokenBySweep(world, engine), 0);
  }),
  engineCase('a stop during work drops nothing and repeats nothing', async (context) => {
    const { engine, serve, until, ended, gate } = context;
    const call = gate();
    const world = sessionWorld(undefined, () => call.promise);
    const served = await serve(({ sessionId, signal }) => world.runtime.advance(sessionId, { signal }), 2);
    for (const id of names(5)) {
      await world.asked('worker', id);
      await engine.wake(id);
    }
    await until('two advances have started', () => world.calls.length === 2);
    const stop = served.stop();
    call.resolve();
    await ended('stop resolves', stop);
    assert.equal(await world.areCompleted(names(1)), false);
    await serve(stepwise(world));
    await until('all executions are completed', () => world.areCompleted(names(5)));
    assert.deepEqual([world.calls.length, new Set(world.calls).size], [15, 15]);
  }),
  engineCase('a decision at any point of the work is used exactly once', async (context) => {
    const { engine, serve, until, quiet } = context;
    const approvals = new InterleavedApprovals(engine);
    const { world } = approvals;
    await serve(approvals.work);
    const first = await approvals.ask();
    await until('the session waits for approval', () => approvals.isAsked(first));
    await quiet();
    const points = approvals.passedBy(first);
    assert(points > 0, 'The work passes no point.');
    const sessionIds = [first];
    for (let decides = 0; decides < points; decides++)
      for (let wakes = decides; wakes <= points; wakes++)
        sessionIds.push(await approvals.ask(decides, wakes < points ? wakes : undefined));
    await quiet();
    await approvals.decideRest();
    await until('all executions are completed', () => world.areCompleted(sessionIds));
    await quiet();
    assert.deepEqual([world.calls.length, new Set(world.calls).size], [sessionIds.length, sessionIds.length]);
    assert.equal(await wokenBySweep(world, engine), 0);
  }),
];

const repairing = [
  engineCase('a sweep finds sessions whose wake-up was dropped', async (context) => {
    const { engine, serve, until, quiet } = context;
    const world = sessionWorld();
    await serve(stepwise(world));
    for (const id of names(MORE_THAN_A_PAGE)) await world.asked('speaker', id);
    assert.equal(await wokenBySweep(world, engine), MORE_THAN_A_PAGE);
    await until('all executions are completed', () => world.areCompleted(names(MORE_THAN_A_PAGE)));
    await quiet();
    assert.equal(await wokenBySweep(world, engine), 0);
  }),
  engineCase('a sweep finds sessions whose worker has died', async (context) => {
    const { engine, serve, until, quiet } = context;
    const world = sessionWorld();
    await world.asked('worker', 'a');
    await world.store.claim('a', { workerId: 'dead', leaseSeconds: LEASE_SECONDS });
    await serve(stepwise(world));
    await engine.wake('a');
    await quiet();
    assert.deepEqual([world.calls.length, await wokenBySweep(world, engine)], [0, 0]);
    await world.clock.pass(LEASE_MS);
    assert.equal(await wokenBySweep(world, engine), 1);
    await until('the execution is completed', () => world.areCompleted(['a']));
    assert.equal(world.calls.length, 3);
  }),
  engineCase(
    'a session whose processes die fails after its last attempt, and others are completed',
    async (context) => {
      const { engine, serve, until, quiet } = context;
      const world = sessionWorld();
      await serve(stepwise(world), 1);
      await world.asked('poison', 'poison');
      await engine.wake('poison');
      // The first death makes the session suspect; the later ones count.
      for (let deaths = 0; deaths <= MAX_ATTEMPTS; deaths++) {
        await world.asked('speaker', `session ${deaths}`);
        await engine.wake(`session ${deaths}`);
        await until('the other execution is completed', () => world.areCompleted([`session ${deaths}`]));
        await quiet();
        assert.notEqual(await world.statusOf('poison'), 'failed');
        await world.clock.pass(LEASE_MS);
        assert.equal(await wokenBySweep(world, engine), 1);
      }
      await until('the execution has failed', async () => (await world.statusOf('poison')) === 'failed');
      await quiet();
      const { state } = await world.runtime.get('poison');
      assert.equal(state.stopReason, 'retryLimitReached');
      assert.equal(await wokenBySweep(world, engine), 0);
    },
  ),
];

/** Cases of the engine, the runtime and the store together. The store is `MemorySessionStore`. */
export const sessionCases: readonly UngroupedEngineCase[] = [...working, ...repairing];
