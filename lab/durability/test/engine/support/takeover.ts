import { until } from 'test-servers';
import type { Plan } from '../../../src/agent.ts';
import { QUEUE_TIMES } from '../../../src/engine/queue.ts';
import type { WorkerProcess } from '../../worker-process.ts';
import type { World } from '../../world.ts';
import { EFFORT } from '../../effort.ts';

/** A soak runs on a quiet machine, and checks bounds in seconds. Any other run prints the seconds only. */
export const isQuiet = EFFORT > 1;

/** After so many seconds at most another worker has the sessions of a dead one, with one second for the machine. */
export const RECOVERY_SECONDS = QUEUE_TIMES.lockSeconds + 2 * QUEUE_TIMES.stalledSeconds + 1;

/** Waits until a tool of each session runs. */
export async function untilCalled({ journal }: World, plans: readonly Plan[]): Promise<void> {
  await until('each session calls a tool', () => {
    const called = journal.read().filter(({ type }) => type === 'called');
    const sessionIds = new Set(called.map(({ sessionId }) => sessionId));
    return plans.every(({ sessionId }) => sessionIds.has(sessionId));
  });
}

/** Waits until a worker has claimed each session. Returns the seconds between an instant and each claim. */
export async function secondsUntilClaimed(
  { journal }: World,
  plans: readonly Plan[],
  { pid }: WorkerProcess,
  since: number,
): Promise<readonly number[]> {
  const claims = new Map<string, number>();
  await until('another worker claims each session', () => {
    for (const { type, sessionId, pid: by, at } of journal.read())
      if (type === 'claimed' && by === pid && !claims.has(sessionId)) claims.set(sessionId, at);
    return claims.size === plans.length;
  });
  return [...claims.values()].map((at) => Math.max(0, at - since) / 1_000);
}
