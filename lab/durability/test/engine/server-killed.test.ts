import { setTimeout as pause } from 'node:timers/promises';
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
import { EFFORT } from '../effort.ts';

const SESSIONS = EFFORT > 1 ? 100 : 12;
const OUTAGES = EFFORT > 1 ? 5 : 1;
const DOWN_MS = 3_000;

test(`a queue whose server is killed during the work, and is back after ${DOWN_MS} ms`, async () => {
  const { world, server } = await engineWorldOf('redis');
  const workers = [await startWorker(world), await startWorker(world)];
  const plans = [...plansOf(SESSIONS)];
  for (const plan of plans) await world.begin(plan);
  let restartedAt = 0;
  for (let outage = 1; outage <= OUTAGES; outage++) {
    const before = world.journal.read().length;
    await until('the workers work', () => world.journal.read().length > before + SESSIONS);
    await server.kill();
    const [late] = plansOf(1).map((plan) => ({ ...plan, sessionId: `late-${outage}` }));
    if (late === undefined) throw new Error('There is no plan.');
    plans.push(late);
    const begun = world.begin(late); // its wake-up waits for the server
    await pause(DOWN_MS);
    await server.restart();
    restartedAt = Date.now();
    await begun;
  }
  await untilOver(world);
  console.log(
    `${plans.length} sessions were over ${Date.now() - restartedAt} ms after the restart of the queue`,
  );
  await endWorkers(workers);
  expect(await verdictOn(world, plans)).toEqual({ problems: [], again: 0 });
});
