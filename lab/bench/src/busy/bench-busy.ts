import { median } from '../measure.ts';
import { machine, measured } from '../process.ts';
import { inUnit, reportRows, reportTable, type Row } from '../report.ts';
import { Results } from '../results.ts';
import { shuffler } from '../shuffle.ts';
import { targetRow } from '../targets.ts';
import type { BusyName } from './busy-peers.ts';
import type { BusyCosts, BusyMetric, BusyOptions } from './measure-busy.ts';

export interface BusyBenchOptions {
  readonly names: readonly BusyName[];
  /** Orders the processes. */
  readonly seed: number;
  /** Default 3, and 1 in a quick run. */
  readonly rounds?: number | undefined;
  readonly isQuick: boolean;
}

type BusyResults = Results<BusyName, BusyMetric>;

const WORKER = new URL('./busy-worker.ts', import.meta.url);
const SESSIONS = 100;

/** Has many sessions work at once, each store in a process of its own, and prints what it cost. Returns the targets. */
export async function benchBusy(options: BusyBenchOptions): Promise<readonly Row[]> {
  const { names, seed, isQuick, rounds = isQuick ? 1 : 3 } = options;
  console.log(`\n# Busy: ${SESSIONS} sessions at once\n\n${rounds} rounds, seed ${seed}, ${machine()}`);
  const shuffle = shuffler(seed);
  const results: BusyResults = new Results();
  const notes = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffle(names)) {
      const task: BusyOptions = { name, sessions: SESSIONS, waves: isQuick ? 4 : 6 };
      const what = `busy, round ${round + 1} of ${rounds}: ${name}`;
      const costs = await measured<BusyCosts>(what, WORKER, task, notes);
      if (!costs) continue;
      results.add(round, name, costs.metrics);
      notes.add(`Server: ${costs.server}`);
    }
  }
  const targets = busyTargets(results);
  reportRows('Targets', targets);
  reportBusy(results, names);
  console.log(`\n${machine()}`);
  for (const note of notes) console.log(`\n${note}`);
  return targets;
}

function busyTargets(results: BusyResults): readonly Row[] {
  return [
    targetRow('busy delay', results.values('sqlite', 'delay')),
    targetRow('busy writes', results.growths('sqlite', 'floor', 'writes')),
    targetRow('busy saves', results.growths('sqlite', 'floor', 'saves')),
  ];
}

function reportBusy(results: BusyResults, names: readonly BusyName[]): void {
  const head = [
    'store',
    'runs, ms (ratio to loop)',
    'CPU of the runs, ms (ratio to loop)',
    'loop delay p99, ms (ratio to loop)',
    'writes a second (ratio to the floor)',
    'saves alone, a second (ratio to the floor)',
    'floor: saves a second',
  ];
  const rows = names.map((name) => {
    const besideLoop = (metric: BusyMetric): string => results.cell(name, 'loop', metric);
    const besideFloor = (metric: BusyMetric): string => {
      const value = inUnit(median(results.values(name, metric)));
      return `${value} (${inUnit(median(results.growths(name, 'floor', metric)))})`;
    };
    return [
      name,
      ...(['time', 'cpu', 'delay'] as const).map(besideLoop),
      ...(['writes', 'saves'] as const).map(besideFloor),
      inUnit(median(results.values(name, 'floor'))),
    ];
  });
  reportTable(`${SESSIONS} sessions at once, 4 model calls of 20 ms each`, head, rows);
}
