import { until } from 'test-servers';
import { expect, test } from 'vitest';
import {
  endWorkers,
  engineWorldOf,
  plansOf,
  startWorker,
  untilOver,
  verdictOn,
} from './support/engine-world.ts';
import { flushQueue } from './support/queue-server.ts';
import { EFFORT } from '../effort.ts';

const SESSIONS = EFFORT > 1 ? 200 : 12;
const OFTEN = { sweepSeconds: 1 };

test('a sweep finds the sessions whose wake-ups were deleted before a worker saw them', async () => {
  const { world, queue } = await engineWorldOf('sqlite');
  const plans = plansOf(SESSIONS);
  for (const plan of plans) await world.begin(plan);
  expect(await flushQueue(queue)).toBeGreaterThan(SESSIONS);
  const workers = [await startWorker(world, OFTEN)];
  await untilOver(world);
  await endWorkers(workers);
  expect(await verdictOn(world, plans)).toEqual({ problems: [], again: 0 });
});

test('a sweep finds the sessions whose wake-ups were deleted during the work', async () => {
  const { world, queue } = await engineWorldOf('redis');
  const workers = [await startWorker(world, OFTEN), await startWorker(world, OFTEN)];
  const plans = plansOf(SESSIONS);
  for (const plan of plans) await world.begin(plan);
  const isAtWork = (): boolean => world.journal.read().filter(({ type }) => type === 'done').length >= 5;
  await until('the workers work', isAtWork);
  expect(await flushQueue(queue)).toBeGreaterThan(SESSIONS / 2);
  await untilOver(world);
  await endWorkers(workers);
  expect(await verdictOn(world, plans)).toEqual({ problems: [], again: 0 });
});
