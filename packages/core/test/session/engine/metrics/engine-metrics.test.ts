import {
  createAgentLoop,
  InProcessEngine,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
} from '@holdfast/core';
import { QueueEngine, type AdvanceResult, type LockedSession, type WakeUpQueue } from '@holdfast/core/engine';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { settled } from '../../../support/durable-world.ts';

const finished: AdvanceResult = { outcome: { type: 'finished' }, wake: [] };

test('a new engine has only zeros', () => {
  const { advances, waits, lanes, ...numbers } = new InProcessEngine().metrics();
  expect(new Set(Object.values(numbers))).toEqual(new Set([0]));
  expect(new Set(Object.values(advances))).toEqual(new Set([0]));
  expect([waits.count, waits.seconds, lanes]).toEqual([0, 0, []]);
});

test('advances are counted by outcome, and their waits and pauses by lane', async () => {
  const clock = manualClock(1_000);
  const engine = new InProcessEngine({ clock });
  for (const id of ['a', 'b', 'limited']) await engine.wake(id, id === 'limited' ? { lane: 'openai' } : {});
  clock.advance(2_000);
  await engine.serve(
    async (id) => {
      clock.advance(500);
      if (id === 'b') throw new Error('No store.');
      return id === 'a'
        ? finished
        : { outcome: { type: 'throttled', until: 60_000, lane: 'openai' }, wake: [] };
    },
    { concurrency: 1, onError: () => undefined },
  );
  await settled();
  const metrics = engine.metrics();
  expect(metrics).toMatchObject({
    advances: { finished: 1, throttled: 1, yield: 0 },
    workSeconds: 1.5,
    errors: 1,
    queueErrors: 0,
    sessionsInWork: 0,
    concurrency: 1,
    waits: { count: 3, seconds: 7.5 },
  });
  expect(metrics.lanes.toSorted((left, right) => left.pauses - right.pauses)).toEqual([
    { lane: undefined, taken: 2, waits: { count: 2, seconds: expect.any(Number) }, pauses: 0 },
    { lane: 'openai', taken: 1, waits: { count: 1, seconds: expect.any(Number) }, pauses: 1 },
  ]);
  const countOf = (seconds: number): number | undefined =>
    metrics.waits.buckets.find(({ atMostSeconds }) => atMostSeconds === seconds)?.count;
  expect([1, 5, 600].map(countOf)).toEqual([0, 3, 3]);
});

test('the sessions in work are counted while their advances run, and metrics never change', async () => {
  const engine = new InProcessEngine();
  const gate = Promise.withResolvers<AdvanceResult>();
  await engine.serve(() => gate.promise, { concurrency: 3 });
  for (const id of ['a', 'b']) await engine.wake(id);
  await settled();
  const during = engine.metrics();
  gate.resolve(finished);
  await settled();
  expect([during.sessionsInWork, during.advances.finished]).toEqual([2, 0]);
  expect([engine.metrics().sessionsInWork, engine.metrics().advances.finished]).toEqual([0, 2]);
  expect(Object.isFrozen(during) && Object.isFrozen(during.lanes) && Object.isFrozen(during.waits)).toBe(
    true,
  );
});

test('steps are those of the runs, without one that is still open', async () => {
  const driver = scriptedDriver({ calls: { add: {} } }, 'Done.');
  const runtime = new SessionRuntime({
    store: new MemorySessionStore(),
    agents: { a: createAgentLoop({ driver }) },
  });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  const engine = new InProcessEngine();
  await runtime.execute(sessionId, sendMessage('Hi.'), { steps: 'later' });
  const worker = await engine.serve((id, options) => runtime.advance(id, options));
  await engine.wake(sessionId);
  while (engine.metrics().advances.finished === 0) await new Promise(setImmediate);
  await worker.stop();
  expect(engine.metrics().steps).toBe(2);
});

/** A queue that delivers one session again, loses its lock, and fails when the work on it ends. */
function brokenQueue(): WakeUpQueue {
  const locks: LockedSession[] = [{ sessionId: 'a', schedule: {}, isRecovery: true }];
  return {
    lockSeconds: 0.003,
    add: async () => undefined,
    take: async () => locks.pop(),
    wait: async (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    renew: async (held) => held,
    finish: () => Promise.reject(new Error('The queue is away.')),
  };
}

test('recoveries, locks that ended and errors of the queue', async () => {
  const engine = new QueueEngine(brokenQueue());
  const worker = await engine.serve(
    async (_, options) =>
      new Promise((resolve) => options?.signal?.addEventListener('abort', () => resolve(finished))),
    { onError: () => undefined },
  );
  while (engine.metrics().queueErrors === 0) await new Promise(setImmediate);
  await worker.stop();
  expect(engine.metrics()).toMatchObject({
    recoveries: 1,
    lostLocks: 1,
    queueErrors: 1,
    errors: 0,
    waits: { count: 0 },
    lanes: [{ lane: undefined, taken: 1 }],
  });
});

test('sessions that the store does not have are counted', async () => {
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: {} });
  const engine = new InProcessEngine();
  const worker = await engine.serve((id, options) => runtime.advance(id, options));
  await engine.wake('unknown');
  while (engine.metrics().advances.finished === 0) await new Promise(setImmediate);
  await worker.stop();
  expect(engine.metrics().unknownSessions).toBe(1);
});

test('of many lanes, the first hundred have counters of their own', async () => {
  const engine = new InProcessEngine();
  await engine.serve(async () => finished);
  for (let lane = 0; lane < 150; lane++) await engine.wake(`s${lane}`, { lane: `lane${lane}` });
  while (engine.metrics().advances.finished < 150) await new Promise(setImmediate);
  const { lanes } = engine.metrics();
  expect(lanes).toHaveLength(101);
  expect(lanes.at(-1)).toMatchObject({ lane: '(others)', taken: 50 });
});
