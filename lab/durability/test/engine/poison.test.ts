import { until } from 'test-servers';
import { expect, inject, test } from 'vitest';
import { randomFrom } from '../random.ts';
import type { WorkerProcess } from '../worker-process.ts';
import type { World } from '../world.ts';
import { isIdle } from '../endings.ts';
import { engineWorldOf, SETTINGS } from './engine-world.ts';

const EFFORT = Number(process.env['EFFORT'] ?? 1);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const INNOCENTS = EFFORT > 1 ? 100 : 12;
const WORKERS = 2;
/** The death of a worker that shares its process with others, and the attempts of `maxAttempts`. */
const MOST_DEATHS = 4;

/** Starts workers again when they die, until all sessions have ended. Returns the number of deaths. */
async function workThrough(world: World): Promise<number> {
  const alive = new Set<WorkerProcess>();
  let started = 0;
  const start = (): void => {
    const worker = world.start([], {
      ...SETTINGS,
      program: inject('poisonWorker'),
      pace: 10,
      sweepSeconds: 1,
    });
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
  const random = randomFrom(SEED);
  const poisonAt = random(INNOCENTS);
  const innocents = Array.from({ length: INNOCENTS }, (_, index) => `innocent-${index}`);
  for (const [index, sessionId] of innocents.entries()) {
    if (index === poisonAt) await world.begin({ sessionId: 'poison', steps: 1, isPoison: true });
    await world.begin({ sessionId, steps: 1 + random(3), isPoison: false });
  }
  const deaths = await workThrough(world);
  const attempts = world.journal
    .read()
    .filter(({ type, sessionId }) => type === 'called' && sessionId === 'poison');
  console.log(`The session killed ${attempts.length} processes, ${deaths} of which had other sessions.`);
  for (const sessionId of innocents) expect((await world.load(sessionId)).state.finalResponse).toBe('Done.');
  const { state } = await world.load('poison');
  expect(state.status).toBe('failed');
  expect(state.errors.map(({ code }) => code)).toContain('ATTEMPTS_EXHAUSTED');
  expect(attempts.length).toBeLessThanOrEqual(MOST_DEATHS);
  expect(deaths).toBeLessThanOrEqual(1);
});
