import { isTerminal } from '@holdfast/core/engine';
import { until } from 'test-servers';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../src/journal.ts';
import { beginAroundPoison, deathsIn, expectOnlyPoisonFailed, MEETS_POISON } from './poison-sessions.ts';
import { untilProgress } from './progress.ts';
import { randomFrom } from './random.ts';
import { TESTED_STORES, type TestedStore } from './servers.ts';
import type { WorkerProcess } from './worker-process.ts';
import { World } from './world.ts';
import { EFFORT } from './effort.ts';

const FIRST_SEED = Number(process.env['SEED'] ?? 1);
const SEEDS = EFFORT > 1 ? 20 : 1;
const INNOCENTS = 50;
const CRASHES = 5;
/** The number of workers that a parent starts again when they die. */
const WORKERS = 2;

async function worldOf({ name, start }: TestedStore) {
  const { newLocation, stop } = await start();
  const world = await World.of(name, newLocation);
  const close = async (): Promise<void> => {
    await world.close();
    await stop();
  };
  return { world, close };
}

function startWorker(world: World, pace = 10): WorkerProcess {
  return world.start(['serve'], { ...MEETS_POISON, pace });
}

/** Tells whether sessions have not ended yet. A page of due sessions may miss one that changes at that moment. */
function notEnded({ runtime }: World, sessionIds: readonly string[]): () => Promise<boolean> {
  const open = [...sessionIds];
  return async () => {
    let next = open[0];
    while (next !== undefined) {
      const { status } = (await runtime.get(next)).state;
      if (status === undefined || !isTerminal(status)) return true;
      open.shift();
      [next] = open;
    }
    return false;
  };
}

/** Starts workers again when they die, and kills some, until all sessions have ended. */
async function workThrough(
  world: World,
  sessionIds: readonly string[],
  random: (below: number) => number,
): Promise<void> {
  const hasWork = notEnded(world, sessionIds);
  const alive = new Set<WorkerProcess>();
  const start = (): void => {
    const worker = startWorker(world);
    alive.add(worker);
    void worker.ended.then(() => alive.delete(worker));
  };
  let kills = random(3);
  while (await hasWork()) {
    while (alive.size < WORKERS) start();
    await untilProgress(world, 1 + random(10));
    const [worker] = alive;
    if (kills === 0 || random(10) > 0) continue;
    kills--;
    worker?.kill();
  }
  await Promise.all([...alive].map((worker) => (worker.leave(), worker.ended)));
}

const AT_WORK: readonly Entry['type'][] = ['inferring', 'called'];

/** The sessions whose model or tool ran in the process of a death at that moment. */
function companions(entries: readonly Entry[], death: Entry): readonly string[] {
  const before = entries.slice(0, entries.indexOf(death)).filter(({ pid }) => pid === death.pid);
  const last = new Map(before.map((entry) => [entry.sessionId, entry]));
  last.delete(death.sessionId);
  return [...last.values()].flatMap(({ type, sessionId }) => (AT_WORK.includes(type) ? [sessionId] : []));
}

/** The idempotency keys under which a tool was called more than once. */
function repeatedKeys(entries: readonly Entry[]): readonly string[] {
  const keys = entries.flatMap(({ type, key }) => (type === 'called' && key !== undefined ? [key] : []));
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}

function callsOfModel({ journal }: World): number {
  return journal.read().filter(({ type }) => type === 'inferring').length;
}

/** Returns the sessions that have not completed. */
async function notCompleted({ runtime }: World, sessionIds: readonly string[]): Promise<readonly string[]> {
  const ends = sessionIds.map(async (sessionId) => {
    const { state } = await runtime.get(sessionId);
    return state.finalResponse === 'Done.' ? [] : [`${sessionId}: ${state.status}`];
  });
  return (await Promise.all(ends)).flat();
}

/** In short runs DynamoDB is left out: its server is the slowest. */
const STORES_HERE = TESTED_STORES.filter(({ name }) => EFFORT > 1 || name !== 'dynamodb');

describe.each(STORES_HERE)('$name', (tested) => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index);

  test.each(seeds)('a session that kills its processes takes no other with it (SEED=%i)', async (seed) => {
    const { world, close } = await worldOf(tested);
    const random = randomFrom(seed);
    const innocents = await beginAroundPoison(world, INNOCENTS, random);
    const startedAt = Date.now();
    await workThrough(world, ['poison', ...innocents], random);
    const entries = world.journal.read();
    const deaths = deathsIn(world);
    const shared = deaths.filter((death) => companions(entries, death).length > 0);
    const seconds = (Date.now() - startedAt) / 1000;
    console.log(`${tested.name}, SEED=${seed}:`, { deaths: deaths.length, shared: shared.length, seconds });
    await expectOnlyPoisonFailed(world, innocents);
    expect(repeatedKeys(entries)).toEqual([]);
    expect(shared.length).toBeLessThanOrEqual(1);
    await close();
  });

  test(`${CRASHES} crashes of a whole worker end none of its sessions`, async () => {
    const { world, close } = await worldOf(tested);
    const sessionIds = Array.from({ length: 8 }, (_, index) => `long-${index}`);
    for (const sessionId of sessionIds) await world.begin({ sessionId, kind: 'once', steps: 1, calls: 1 });
    for (let crash = 1; crash <= CRASHES; crash++) {
      const worker = startWorker(world, 60_000);
      const before = callsOfModel(world);
      // The first worker works on all sessions at once; later ones try them one at a time.
      const isAtWork = () => callsOfModel(world) >= before + (crash === 1 ? sessionIds.length : 1);
      await until('the worker works on its sessions', isAtWork);
      worker.kill();
      await worker.ended;
    }
    const crashedAt = Date.now();
    const worker = startWorker(world);
    const hasWork = notEnded(world, sessionIds);
    await until('all sessions have ended', async () => !(await hasWork()));
    console.log(`${tested.name}: 8 sessions ended ${Date.now() - crashedAt} ms after the last crash`);
    worker.leave();
    await worker.ended;
    expect(await notCompleted(world, sessionIds)).toEqual([]);
    await close();
  });
});
