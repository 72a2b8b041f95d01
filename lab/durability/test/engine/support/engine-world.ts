import { until, type RedisServer } from 'test-servers';
import { expect, onTestFinished } from 'vitest';
import { KINDS, type Kind, type Plan } from '../../../src/agent.ts';
import { problemsOf } from '../../checks.ts';
import { changed, isIdle, repeated } from '../../endings.ts';
import { TESTED_STORES } from '../../servers.ts';
import type { WorkerProcess } from '../../worker-process.ts';
import { World } from '../../world.ts';
import { newQueue, startQueueServer } from './queue-server.ts';

/** Workers of a test: few sweeps, so that the engine does the work. */
export const SETTINGS = { pace: 20, leaseSeconds: 0.5, sweepSeconds: 60 } as const;

/** A world whose workers learn from a queue of the work, with servers of its own. */
export interface EngineWorld {
  readonly world: World;
  readonly server: RedisServer;
  /** The location of the queue. */
  readonly queue: string;
}

/** Starts the servers of a world, until the test has finished. */
export async function engineWorldOf(storeName: string): Promise<EngineWorld> {
  const store = TESTED_STORES.find(({ name }) => name === storeName);
  if (store === undefined) throw new Error(`There is no store "${storeName}".`);
  const { newLocation, stop } = await store.start();
  const server = await startQueueServer();
  const queue = newQueue(server);
  const world = await World.of(storeName, newLocation, queue);
  onTestFinished(async () => {
    await world.close();
    await stop();
    await server.stop();
  });
  return { world, server, queue };
}

/** Returns the plans of sessions, with a tool of each kind in turn. */
export function plansOf(count: number, kinds: readonly Kind[] = KINDS): readonly Plan[] {
  return Array.from({ length: count }, (_, index) => ({
    sessionId: `session-${index}`,
    kind: kinds[index % kinds.length] ?? 'once',
    steps: 2 + (index % 3),
    calls: 1 + (index % 2),
  }));
}

/** Starts a worker, and waits until it serves. */
export async function startWorker(
  world: World,
  settings: Parameters<World['start']>[1] = {},
): Promise<WorkerProcess> {
  const worker = world.start(['serve'], { ...SETTINGS, ...settings });
  expect(await worker.line()).toBe('"ready"');
  return worker;
}

/** Lets people decide until every session is over. */
export async function untilOver(world: World): Promise<void> {
  await until('every session is over', async () => {
    await world.people.attend();
    return isIdle(world);
  });
}

/** Lets workers end, which have survived and complain about nothing. */
export async function endWorkers(workers: readonly WorkerProcess[]): Promise<void> {
  for (const worker of workers) worker.leave();
  for (const { code, signal, complaints } of await Promise.all(workers.map(({ ended }) => ended)))
    expect({ code, signal, complaints }).toEqual({ code: 0, signal: null, complaints: '' });
}

/** Returns what is wrong with the work on sessions, and how many calls of tools ran again. */
export async function verdictOn(
  world: World,
  plans: readonly Plan[],
): Promise<{ readonly problems: readonly string[]; readonly again: number }> {
  const journal = world.journal.readBySession();
  const problems = [...problemsOf(journal)];
  let again = 0;
  for (const plan of plans) {
    problems.push(...(await changed(world, plan)));
    again += repeated(journal.get(plan.sessionId) ?? [], 'called');
  }
  return { problems, again };
}
