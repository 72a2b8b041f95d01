import { expect, test } from 'vitest';
import { QUEUE_TIMES } from '../../src/engine/queue.ts';
import type { Plan } from '../../src/agent.ts';
import type { WorkerProcess } from '../worker-process.ts';
import type { World } from '../world.ts';
import {
  endWorkers,
  engineWorldOf,
  plansOf,
  startWorker,
  untilOver,
  verdictOn,
} from './support/engine-world.ts';
import { isQuiet, RECOVERY_SECONDS, secondsUntilClaimed, untilCalled } from './support/takeover.ts';

const SLOW = { pace: 700 };

/** A bound in seconds, which only a quiet machine keeps. */
const atMost = (seconds: number): number => (isQuiet ? seconds : Infinity);

/** Sends SIGTERM. Returns the seconds until the worker has ended, without an error. */
async function terminate(worker: WorkerProcess): Promise<number> {
  const startedAt = Date.now();
  worker.kill('SIGTERM');
  const { code, signal, complaints } = await worker.ended;
  expect({ code, signal, complaints }).toEqual({ code: 0, signal: null, complaints: '' });
  return (Date.now() - startedAt) / 1_000;
}

/** Begins sessions in one worker, starts another, and terminates the first while its tools run. */
async function drain(world: World, plans: readonly Plan[], settings: Parameters<World['start']>[1]) {
  const first = await startWorker(world, settings);
  for (const plan of plans) await world.begin(plan);
  await untilCalled(world, plans);
  const next = await startWorker(world, { pace: 5 });
  const stopped = await terminate(first);
  const at = Date.now();
  const continued = await secondsUntilClaimed(world, plans, next, at);
  console.log(`SIGTERM: ended after ${stopped} s, continued after ${continued.join(', ')} s`);
  return { next, stopped, longest: Math.max(...continued) };
}

test('another worker continues the sessions of a worker that drains at once', async () => {
  const { world } = await engineWorldOf('redis');
  const plans = plansOf(4, ['idempotent', 'once']);
  const { next, stopped, longest } = await drain(world, plans, { ...SLOW, stopSeconds: 5 });
  expect(stopped).toBeLessThan(atMost(5));
  expect(longest).toBeLessThan(atMost(QUEUE_TIMES.lockSeconds));
  await untilOver(world);
  await endWorkers([next]);
  expect(await verdictOn(world, plans)).toEqual({ problems: [], again: 0 });
});

test('a worker ends within its limit when a tool does not', async () => {
  const { world } = await engineWorldOf('sqlite');
  const plans = plansOf(1, ['idempotent']);
  const { next, stopped, longest } = await drain(world, plans, { pace: 3_000, stopSeconds: 0.5 });
  expect(stopped).toBeLessThan(atMost(1.5));
  expect(longest).toBeLessThan(atMost(RECOVERY_SECONDS));
  await untilOver(world);
  await endWorkers([next]);
  expect(await verdictOn(world, plans)).toEqual({ problems: [], again: 1 });
});
