import { machine, measured } from '../process.ts';
import type { Row } from '../report.ts';
import { reportRows, reportTable } from '../report.ts';
import type { Metrics } from '../results.ts';
import { Results } from '../results.ts';
import { shuffler } from '../shuffle.ts';
import { targetRow } from '../targets.ts';
import type { BusyName } from './busy-peers.ts';
import type { BusyCosts, BusyOptions } from './measure-busy.ts';

export interface BusyBenchOptions {
  readonly names: readonly BusyName[];
  /** Orders the processes. */
  readonly seed: number;
  /** Default 3, and 1 in a quick run. */
  readonly rounds?: number | undefined;
  readonly isQuick: boolean;
}

/** Milliseconds of runs at once; writes a second while they run, and saves a second of sessions that do nothing else. */
type Metric = 'time' | 'cpu' | 'delay' | 'writes' | 'saves';
type BusyResults = Results<BusyName, Metric>;

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
      results.add(round, name, metricsOf(costs));
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

function metricsOf({ runs, saves }: BusyCosts): Metrics<Metric> {
  return { ...(saves !== undefined && { saves, writes: saves }), ...runs };
}

function busyTargets(results: BusyResults): readonly Row[] {
  const floor = 'commit floor';
  return [
    targetRow('busy delay', results.values('sqlite', 'delay')),
    // A floor that runs no agents writes as often as it saves.
    targetRow('busy writes', results.ratios('sqlite', floor, 'writes')),
    targetRow('busy saves', results.ratios('sqlite', floor, 'saves')),
  ];
}

function reportBusy(results: BusyResults, names: readonly BusyName[]): void {
  const head = [
    'store',
    'runs, ms (ratio to loop)',
    'CPU of the runs, ms (ratio to loop)',
    'loop delay p99, ms (ratio to loop)',
    'writes a second (ratio to memory)',
    'saves alone, a second (ratio to commit floor)',
  ];
  const rows = names.map((name) => [
    name,
    results.cell(name, 'loop', 'time'),
    results.cell(name, 'loop', 'cpu'),
    results.cell(name, 'loop', 'delay'),
    results.cell(name, 'memory', 'writes'),
    results.cell(name, 'commit floor', 'saves'),
  ]);
  reportTable(`${SESSIONS} sessions at once, 4 model calls of 20 ms each`, head, rows);
}
