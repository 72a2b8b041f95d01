import { until } from 'test-servers';
import { expect, test } from 'vitest';
import { beginAroundPoison, deathsIn, expectOnlyPoisonFailed, MEETS_POISON } from '../poison-sessions.ts';
import { randomFrom } from '../random.ts';
import type { WorkerProcess } from '../worker-process.ts';
import type { World } from '../world.ts';
import { isIdle } from '../endings.ts';
import { engineWorldOf } from './support/engine-world.ts';
import { EFFORT, SEED } from '../effort.ts';

const INNOCENTS = EFFORT > 1 ? 100 : 12;
const WORKERS = 2;
/** The death of a worker that shares its process with others, and the attempts of `maxAttempts`. */
const MOST_DEATHS = 4;

/** Starts workers again when they die, until all sessions have ended. Returns the number of deaths. */
async function workThrough(world: World): Promise<number> {
  const alive = new Set<WorkerProcess>();
  let started = 0;
  const start = (): void => {
    const worker = world.start(['serve'], { ...MEETS_POISON, pace: 10, sweepSeconds: 1 });
    started++;
    alive.add(worker);
    void worker.ended.then(() => alive.delete(worker));
  };
  await until('every session is over', () => {
    while (alive.size < WORKERS) start();
    return isIdle(world);
  });
  await Promise.all([...alive].map((worker) => (worker.leave(), worker.ended)));
  return started - WORKERS;
}

test(`a session that kills its processes is given up, and the others end (SEED=${SEED})`, async () => {
  const { world } = await engineWorldOf('sqlite');
  const innocents = await beginAroundPoison(world, INNOCENTS, randomFrom(SEED));
  const deaths = await workThrough(world);
  const attempts = deathsIn(world);
  console.log(`The session killed ${attempts.length} processes, ${deaths} of which had other sessions.`);
  await expectOnlyPoisonFailed(world, innocents);
  expect(attempts.length).toBeLessThanOrEqual(MOST_DEATHS);
  expect(deaths).toBeLessThanOrEqual(1);
});
