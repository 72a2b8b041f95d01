import { setTimeout as pause } from 'node:timers/promises';
import { pendingApprovals } from '@holdfast/core';
import { until } from 'test-servers';
import { expect, test } from 'vitest';
import { forEachOf, type World } from '../world.ts';
import { randomFrom } from '../random.ts';
import { isIdle } from '../endings.ts';
import { endWorkers, engineWorldOf, plansOf, startWorker, verdictOn } from './support/engine-world.ts';
import { EFFORT, SEED } from '../effort.ts';

const SESSIONS = EFFORT > 1 ? 300 : 40;
/** All approvals are given within this time. */
const MILLISECONDS = 25 * SESSIONS;

/** Approves the waiting calls of a session, and wakes it, as a web process does for each click. */
async function approve({ runtime, wake }: Pick<World, 'runtime' | 'wake'>, sessionId: string): Promise<void> {
  const { state } = await runtime.get(sessionId);
  for (const { id, approval } of pendingApprovals(state)) {
    const requestedAt = approval?.requestedAt ?? 0;
    const decision = { type: 'decision', toolExecutionId: id, decision: 'approved', requestedAt } as const;
    await runtime.enqueue(sessionId, decision);
  }
  await wake(sessionId);
}

test(`${SESSIONS} sessions that are approved at random moments, some of them twice, all end (SEED=${SEED})`, async () => {
  const { world } = await engineWorldOf('sqlite');
  const random = randomFrom(SEED);
  const workers = [await startWorker(world, { pace: 1 }), await startWorker(world, { pace: 1 })];
  const plans = plansOf(SESSIONS, ['approval']).map((plan) => ({ ...plan, steps: 1 }));
  for (const plan of plans) await world.begin(plan);
  await forEachOf(plans, 1, async ({ sessionId }) => {
    const isWaiting = async (): Promise<boolean> =>
      pendingApprovals((await world.load(sessionId)).state).length > 0;
    await until('a session waits for approval', isWaiting);
  });

  const clicks = plans.flatMap(({ sessionId }) =>
    Array.from({ length: random(10) < 3 ? 2 : 1 }, () => ({ sessionId, after: random(MILLISECONDS) })),
  );
  await forEachOf(clicks, clicks.length, async ({ sessionId, after }) => {
    await pause(after);
    await approve({ runtime: world.runtime, wake: (id) => world.wake(id) }, sessionId);
  });
  const clickedAt = Date.now();
  await until('no session waits', () => isIdle(world));
  console.log(
    `${clicks.length} approvals: all sessions ended ${Date.now() - clickedAt} ms after the last one`,
  );
  await endWorkers(workers);
  expect(await verdictOn(world, plans)).toEqual({ problems: [], again: 0 });
});
