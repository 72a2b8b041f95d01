import { expect, test } from 'vitest';
import type { ParentPlan } from '../../src/engine/parent.ts';
import { untilProgress } from '../progress.ts';
import { randomFrom } from '../random.ts';
import type { World } from '../world.ts';
import {
  endWorkers,
  engineWorldOf,
  plansOf,
  startWorker,
  untilOver,
  verdictOn,
} from './support/engine-world.ts';
import { parentProblems } from './support/parent-problems.ts';
import { EFFORT, SEED } from '../effort.ts';

const PARENTS = EFFORT > 1 ? 40 : 4;
const KILLS = EFFORT > 1 ? 30 : 3;
const CHILDREN = 3;
const WORKERS = 2;

function parentsOf(count: number): readonly ParentPlan[] {
  return Array.from({ length: count }, (_, index) => {
    const sessionId = `parent-${index}`;
    const kinds = ['idempotent', 'reconcile', 'approval'] as const;
    const children = plansOf(CHILDREN, kinds).map((plan, nth) => ({
      ...plan,
      sessionId: `${sessionId}-child-${nth}`,
    }));
    return { sessionId, children };
  });
}

/** Kills workers at random while there is work. Returns the last workers. */
async function killAtRandom(world: World, random: (below: number) => number) {
  const workers = [];
  for (let count = 0; count < WORKERS; count++) workers.push(await startWorker(world));
  for (let kills = 0; kills < KILLS; kills++) {
    await untilProgress(world, 1 + random(20));
    await world.people.attend();
    const index = random(WORKERS);
    workers[index]?.kill();
    workers[index] = await startWorker(world);
  }
  return workers;
}

test(`parents continue when their children have ended, whichever workers die (SEED=${SEED})`, async () => {
  const { world } = await engineWorldOf('redis');
  const parents = parentsOf(PARENTS);
  for (const plan of parents) await world.begin(plan);
  const workers = await killAtRandom(world, randomFrom(SEED));
  await untilOver(world);
  await endWorkers(workers);
  const ofChildren = await verdictOn(
    world,
    parents.flatMap(({ children }) => children),
  );
  const problems = [...ofChildren.problems];
  for (const plan of parents) problems.push(...(await parentProblems(world, plan)));
  expect(problems).toEqual([]);
});
