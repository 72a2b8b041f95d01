import { median } from '../measure.ts';
import { machine, measured } from '../process.ts';
import { inUnit, reportRows, reportTable, type Row } from '../report.ts';
import { Results } from '../results.ts';
import { targetRow } from '../targets.ts';
import { SIZES, turnKey, type TurnCosts, type TurnOptions } from './measure-turns.ts';
import type { TurnName } from './turn-peers.ts';

export interface TurnBenchOptions {
  readonly names: readonly TurnName[];
  /** Orders the turns. */
  readonly seed: number;
  /** Default 5, and 1 in a quick run. */
  readonly rounds?: number | undefined;
  readonly isQuick: boolean;
}

/** Milliseconds of a turn at so many messages: the best tenth, and in the middle. */
type Metric = `${'best' | 'median'} ${number}`;
type TurnResults = Results<TurnName, Metric>;

const WORKER = new URL('./turn-worker.ts', import.meta.url);
const [SHORT, , LONG] = SIZES;

/** Takes turns in short and in long conversations, and prints what they cost. Returns the targets. */
export async function benchTurns(options: TurnBenchOptions): Promise<readonly Row[]> {
  const { names, seed, isQuick, rounds = isQuick ? 1 : 5 } = options;
  console.log(`\n# Turns\n\n${rounds} rounds, seed ${seed}, ${machine()}`);
  const results: TurnResults = new Results();
  const notes = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const task: TurnOptions = { names, conversations: isQuick ? 10 : 40, seed: seed + round };
    const what = `turns, round ${round + 1} of ${rounds}`;
    const costs = await measured<TurnCosts>(what, WORKER, task, notes);
    if (!costs) continue;
    for (const name of names) addTurns(results, round, name, costs);
    notes.add(`Server: ${costs.server}`);
  }
  const targets = turnTargets(results);
  reportRows('Targets', targets);
  reportTurns(results, names);
  console.log(`\n${machine()}`);
  for (const note of notes) console.log(`\n${note}`);
  return targets;
}

function addTurns(results: TurnResults, round: number, name: TurnName, { times }: TurnCosts): void {
  for (const size of SIZES) {
    const found = times[turnKey(name, size)];
    if (found) results.add(round, name, { [`best ${size}`]: found.best, [`median ${size}`]: found.median });
  }
}

function turnTargets(results: TurnResults): readonly Row[] {
  return [
    targetRow('step core', growths(results, 'core steps', 'best')),
    targetRow('step driver', growths(results, 'driver-ai-sdk steps', 'best')),
    targetRow('turn memory', growths(results, 'memory', 'best')),
    targetRow('turn redis', growths(results, 'redis', 'best')),
    targetRow('turn sqlite', growths(results, 'sqlite', 'best')),
  ];
}

/** A turn in a long conversation beside one in a short, in each round. */
function growths(results: TurnResults, name: TurnName, metric: 'best' | 'median'): readonly number[] {
  return results.growths(name, `${metric} ${SHORT}`, `${metric} ${LONG}`);
}

function reportTurns(results: TurnResults, names: readonly TurnName[]): void {
  const rows = names.map((name) => {
    const cell = (metric: Metric): string => results.cell(name, 'generateText', metric, 1_000);
    const ratio = (metric: 'best' | 'median'): string => inUnit(median(growths(results, name, metric)));
    return [
      name,
      ...SIZES.flatMap((size) => [cell(`best ${size}`), cell(`median ${size}`)]),
      ratio('best'),
      ratio('median'),
    ];
  });
  const sizes = SIZES.flatMap((size) => [`${size} messages, best tenth`, `${size} messages, median`]);
  const head = ['turn', ...sizes, `${LONG} / ${SHORT}, best tenth`, `${LONG} / ${SHORT}, median`];
  reportTable('A turn, µs (ratio to generateText)', head, rows);
}
