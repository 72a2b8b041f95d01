import { setTimeout as pause } from 'node:timers/promises';
import type { Metrics } from '../results.ts';
import { LANES } from './engine-agents.ts';
import { EngineSite } from './engine-site.ts';
import { inBatches, PROCESSES } from './measure-load.ts';
import type { SceneMetric } from './scene-metric.ts';

const TIMES = { lockSeconds: 30, stalledSeconds: 10 };
/** The sessions never end. The model is slow: the machine is not busy, and a lane has the same speed alone. */
const AGENTS = { steps: 1_000_000, delay: 400, schedule: 'lanes' } as const;
const SESSIONS_PER_LANE = 10;
const CONCURRENCY = 20;
const WARM_UP = 4_000;
const PERIOD = 10_000;
/** The calls that were made before the 429 end first. */
const SETTLING = 2_000;
const [LIMITED] = LANES;

/** Measures the steps of three lanes before and while the provider of a fourth answers 429. */
export async function measureLimit(): Promise<Metrics<SceneMetric>> {
  const options = { engine: 'BullmqEngine, lanes', agents: AGENTS, concurrency: CONCURRENCY } as const;
  return EngineSite.use({ ...options, ...TIMES, processes: PROCESSES }, async (site) => {
    const sessions = LANES.flatMap((agentName) =>
      Array.from({ length: SESSIONS_PER_LANE }, (_, index) => ({
        sessionId: `${agentName} ${index}`,
        agentName,
      })),
    );
    await inBatches(sessions, (session) => site.create(session));
    await inBatches(sessions, (session) => site.submit(session));
    await Promise.all(site.workers.map((worker) => worker.serve()));
    await pause(WARM_UP);
    const before = await stepsASecond(site);
    for (const worker of site.workers) worker.order({ type: 'limit', agent: LIMITED });
    await pause(SETTLING);
    const during = await stepsASecond(site);
    return {
      othersBefore: before.others,
      othersDuring: during.others,
      othersRatio: during.others / before.others,
      limitedBefore: before.limited,
      limitedDuring: during.limited,
    };
  });
}

interface LaneSteps {
  readonly limited: number;
  readonly others: number;
}

async function stepsASecond(site: EngineSite): Promise<LaneSteps> {
  const [started, before] = [performance.now(), await stepsOf(site)];
  await pause(PERIOD);
  const [seconds, after] = [(performance.now() - started) / 1_000, await stepsOf(site)];
  return {
    limited: (after.limited - before.limited) / seconds,
    others: (after.others - before.others) / seconds,
  };
}

async function stepsOf({ workers }: EngineSite): Promise<LaneSteps> {
  const counts = await Promise.all(workers.map((worker) => worker.count()));
  const sum = (names: readonly string[]): number =>
    counts.reduce(
      (steps, { answers }) => names.reduce((total, name) => total + (answers[name] ?? 0), steps),
      0,
    );
  return { limited: sum([LIMITED]), others: sum(LANES.filter((lane) => lane !== LIMITED)) };
}
