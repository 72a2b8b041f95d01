import type { Metrics } from '../results.ts';
import { EngineSite, type NewSession } from './engine-site.ts';
import { instant } from './engine-task.ts';
import { finishedOf, inBatches, PROCESSES } from './measure-load.ts';
import type { SceneMetric } from './scene-metric.ts';

const LOADS = [500, 200, 100, 50, 20, 10, 5, 3, 2, 1];
const TIMES = { lockSeconds: 30, stalledSeconds: 10 };
/** One call of the model for each session. */
const MODEL = { steps: 1, delay: 50 } as const;
const CONCURRENCY = 4;

/** Measures how long the session of the smallest owner waits, behind those of nine others. */
export async function measureFairness(): Promise<Metrics<SceneMetric>> {
  const alone = await waitOfSmallest('none');
  const grouped = await waitOfSmallest('owners');
  return {
    smallestAlone: alone.wait,
    totalAlone: alone.total,
    smallestGrouped: grouped.wait,
    totalGrouped: grouped.total,
  };
}

async function waitOfSmallest(
  schedule: 'none' | 'owners',
): Promise<{ readonly wait: number; readonly total: number }> {
  const agents = { ...MODEL, schedule };
  const options = {
    engine: 'BullmqEngine, 1 step',
    agents,
    concurrency: CONCURRENCY,
    processes: PROCESSES,
  } as const;
  return EngineSite.use({ ...options, ...TIMES }, async (site) => {
    const sessions = LOADS.flatMap((load, owner) =>
      Array.from({ length: load }, (_, index): NewSession => ({
        sessionId: `${owner}/${index}`,
        owner: `${owner}`,
      })),
    );
    await inBatches(sessions, (session) => site.create(session));
    await inBatches(sessions, (session) => site.submit(session)); // the smallest owner is the last
    const smallest = sessions.at(-1)?.sessionId;
    let wait = NaN;
    const started = instant();
    const finished = finishedOf(site, sessions, ({ sessionId, at }) => {
      if (sessionId === smallest && Number.isNaN(wait)) wait = (at - started) / 1_000;
    });
    await Promise.all(site.workers.map((worker) => worker.serve()));
    await finished;
    return { wait, total: (instant() - started) / 1_000 };
  });
}
