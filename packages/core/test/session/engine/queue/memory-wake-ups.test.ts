import { manualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { MemoryWakeUps } from '../../../../src/session/engine/queue/memory-wake-ups.ts';
import type { LockedSession } from '../../../../src/session/engine/wake-up-queue.ts';
import { settled } from '../../../support/durable-world.ts';

const NOW = 1_000;

function memoryQueue() {
  const clock = manualClock(NOW);
  const queue = new MemoryWakeUps(clock, {});
  const wake = (sessionId: string, at = NOW): Promise<void> => queue.add([{ sessionId, at }]);
  const take = async (): Promise<LockedSession> => {
    const lock = await queue.take();
    if (lock === undefined) throw new Error('No session is due.');
    return lock;
  };
  return { clock, queue, wake, take };
}

/** Waits for a session. Returns whether the wait has ended. */
function waitOn(queue: MemoryWakeUps, signal = new AbortController().signal): () => Promise<boolean> {
  let hasEnded = false;
  void queue.wait(signal).then(() => (hasEnded = true));
  return async () => {
    await settled();
    return hasEnded;
  };
}

describe('a wait', () => {
  test('ends at once after a wake-up since the last take', async () => {
    const { queue, wake } = memoryQueue();
    expect(await queue.take()).toBeUndefined();
    await wake('a');
    expect(await waitOn(queue)()).toBe(true);
  });

  test('ends at the next instant, at the end of a pause, and at an abort', async () => {
    const { queue, wake, take, clock } = memoryQueue();
    await wake('a');
    const lock = await take();
    await queue.finish(lock, { wakeUps: [], pause: { lane: 'x', until: NOW + 10 } });
    await wake('b', NOW + 20);
    expect(await queue.take()).toBeUndefined();
    const pauseEnds = waitOn(queue);
    expect(await pauseEnds()).toBe(false);
    clock.advance(10);
    expect(await pauseEnds()).toBe(true);
    const instantComes = waitOn(queue);
    clock.advance(10);
    expect(await instantComes()).toBe(true);
    expect((await take()).sessionId).toBe('b');
    const controller = new AbortController();
    const aborts = waitOn(queue, controller.signal);
    expect(await aborts()).toBe(false);
    controller.abort();
    expect(await aborts()).toBe(true);
    expect(await waitOn(queue, controller.signal)()).toBe(true);
  });
});

describe('a locked session', () => {
  test('has the instant since when it is due, and is taken again for wake-ups that arrived meanwhile', async () => {
    const { queue, wake, take, clock } = memoryQueue();
    await wake('a', NOW - 5);
    clock.advance(10);
    const first = await take();
    expect(first).toEqual({ sessionId: 'a', schedule: {}, dueAt: NOW - 5 });
    for (const at of [NOW + 5, NOW + 10]) await wake('a', at);
    expect(await queue.take()).toBeUndefined();
    await queue.finish(first, { wakeUps: [] });
    const second = await take();
    expect(second).toEqual({ sessionId: 'a', schedule: {}, dueAt: NOW + 5 });
    await queue.finish(second, { wakeUps: [] });
    expect(await queue.take()).toBeUndefined();
  });

  test('has the schedule of its result, not that of a wake-up that arrived meanwhile', async () => {
    const { queue, wake, take } = memoryQueue();
    await wake('a');
    const lock = await take();
    await wake('a');
    const next = { lane: 'x', priority: 5, group: 'g' };
    await queue.finish(lock, { wakeUps: [{ sessionId: 'a', at: NOW, ...next }] });
    expect(await take()).toEqual({ sessionId: 'a', schedule: next, dueAt: NOW });
    expect(await queue.take()).toBeUndefined();
  });
});

test('wake-ups of one session at one instant are merged, those at others are not', async () => {
  const { queue, wake, take, clock } = memoryQueue();
  for (const at of [NOW + 20, NOW + 10, NOW + 10, NOW + 30]) await wake('a', at);
  await wake('b', NOW + 10);
  const taken: string[] = [];
  for (let step = 0; step < 3; step++) {
    clock.advance(10);
    for (let lock = await queue.take(); lock; lock = await queue.take()) {
      taken.push(`${lock.sessionId} ${lock.dueAt}`);
      await queue.finish(lock, { wakeUps: [] });
    }
  }
  expect(taken.toSorted()).toEqual(['a 1010', 'a 1020', 'a 1030', 'b 1010']);
  await wake('c');
  expect((await take()).sessionId).toBe('c');
});

test('the backlog has what is due and waits, by lane', async () => {
  const { queue, wake, take } = memoryQueue();
  await queue.add([
    { sessionId: 'x', at: NOW - 5, lane: 'slow' },
    { sessionId: 'y', at: NOW - 9, lane: 'slow' },
  ]);
  await wake('in work');
  await wake('waits');
  await wake('later', NOW + 10);
  expect((await take()).sessionId).toBe('x');
  await take();
  expect(await queue.backlog()).toEqual([
    { lane: 'slow', waiting: 1, since: NOW - 9 },
    { lane: undefined, waiting: 1, since: NOW },
  ]);
});
