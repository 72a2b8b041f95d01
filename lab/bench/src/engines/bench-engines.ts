import { median } from '../measure.ts';
import { machine, measured } from '../process.ts';
import { inUnit, reportTable } from '../report.ts';
import { Results, type Metrics } from '../results.ts';
import { shuffler } from '../shuffle.ts';
import type { EngineName } from './engine-task.ts';
import { DELAY, PROCESSES, STEPS, type LoadMetric, type LoadOptions } from './measure-load.ts';
import type { SceneMetric } from './scene-metric.ts';
import { SCENES, type SceneName } from './scenes.ts';

export interface EngineBenchOptions {
  readonly names: readonly EngineName[];
  /** Orders the engines. */
  readonly seed: number;
  /** Default 3, and 1 in a quick run. */
  readonly rounds?: number | undefined;
  readonly isQuick: boolean;
}

type LoadResults = Results<EngineName, LoadMetric>;

const LOAD = new URL('./load-worker.ts', import.meta.url);
const SCENE = new URL('./scene-worker.ts', import.meta.url);
const SESSIONS = 1_000;
const QUICK_SESSIONS = 200;

const HEADS: Readonly<Record<LoadMetric, string>> = {
  steps: 'steps a second',
  cpu: 'CPU of the workers a step, ms',
  queueCpu: 'CPU of the queue a step, µs',
  storeCpu: 'CPU of the store a step, µs',
  queueCommands: 'commands of the queue a step',
  storeCommands: 'commands of the store a step',
  lag50: 'wake to start p50, ms',
  lag99: 'wake to start p99, ms',
};

/** Runs many sessions on three workers with each engine, and then scenes of recovery, limits and fairness. */
export async function benchEngines(options: EngineBenchOptions): Promise<void> {
  const { names, seed, isQuick, rounds = isQuick ? 1 : 3 } = options;
  const sessions = isQuick ? QUICK_SESSIONS : SESSIONS;
  console.log(`\n# Engines\n\n${rounds} rounds, seed ${seed}, ${machine()}`);
  const shuffle = shuffler(seed);
  const results: LoadResults = new Results();
  const notes = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const engine of shuffle(names)) {
      const task: LoadOptions = { engine, sessions, wakes: isQuick ? 50 : 200 };
      const what = `engines, round ${round + 1} of ${rounds}: ${engine}`;
      const metrics = await measured<Metrics<LoadMetric>>(what, LOAD, task, notes);
      if (metrics) results.add(round, engine, metrics);
    }
  }
  const title = `${sessions} sessions of ${STEPS} steps on ${PROCESSES} workers, model of ${DELAY} ms`;
  reportLoad(title, results, names, 'no engine', ['steps', 'cpu', 'storeCpu', 'storeCommands']);
  const rest = ['queueCpu', 'queueCommands', 'lag50', 'lag99'] as const;
  reportLoad(title, results, names, 'plain BullMQ', ['steps', 'cpu', 'storeCpu', ...rest]);
  console.log(`\n${machine()}`);
  for (const name of Object.keys(SCENES) as SceneName[]) await reportScene(name, isQuick, notes);
  console.log(`\n${machine()}`);
  for (const note of notes) console.log(`\n${note}`);
}

function reportLoad(
  title: string,
  results: LoadResults,
  names: readonly EngineName[],
  base: EngineName,
  metrics: readonly LoadMetric[],
): void {
  const head = ['engine', ...metrics.map((metric) => HEADS[metric])];
  const rows = names.map((name) => [name, ...metrics.map((metric) => results.cell(name, base, metric))]);
  reportTable(`${title} (ratio to ${base})`, head, rows);
}

async function reportScene(name: SceneName, isQuick: boolean, notes: Set<string>): Promise<void> {
  const { title, heads } = SCENES[name];
  const metrics = await measured<Metrics<SceneMetric>>(`engines: ${name}`, SCENE, { name, isQuick }, notes);
  if (!metrics) return;
  const values = Object.keys(heads) as SceneMetric[];
  const rows = values.map((metric) => [heads[metric] ?? metric, inUnit(median([metrics[metric] ?? NaN]))]);
  reportTable(title, ['what', 'measured'], rows);
}
