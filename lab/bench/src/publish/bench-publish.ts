import { median } from '../measure.ts';
import { machine, measured } from '../process.ts';
import { inUnit, reportRows, reportTable, type Row } from '../report.ts';
import { Results } from '../results.ts';
import { shuffler } from '../shuffle.ts';
import { targetRow, type TargetName } from '../targets.ts';
import type { PublishCosts, PublishMetric, PublishOptions } from './measure-publish.ts';
import { CHANNEL_NAMES, type ChannelName, type PublishName } from './publish-peers.ts';

export interface PublishBenchOptions {
  readonly names: readonly PublishName[];
  /** Orders the processes. */
  readonly seed: number;
  /** Default 5, and 2 in a quick run. */
  readonly rounds?: number | undefined;
  readonly isQuick: boolean;
}

type Pace = 'paced' | 'at once';
type Metric = `${Pace} ${PublishMetric}`;
type PublishResults = Results<PublishName, Metric>;

const WORKER = new URL('./publish-worker.ts', import.meta.url);
const PACES: readonly Pace[] = ['paced', 'at once'];
/** The streams that a process times, and in a quick run. */
const STREAMS: Readonly<Record<Pace, readonly [number, number]>> = { paced: [4, 2], 'at once': [60, 30] };

/** Streams long responses with and without a channel, each in a process of its own. Returns the targets. */
export async function benchPublish(options: PublishBenchOptions): Promise<readonly Row[]> {
  const { names, seed, isQuick, rounds = isQuick ? 2 : 5 } = options;
  console.log(`\n# Publish: 10 000 deltas\n\n${rounds} rounds, seed ${seed}, ${machine()}`);
  const shuffle = shuffler(seed);
  const results: PublishResults = new Results();
  const notes = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const pace of PACES) {
      for (const name of shuffle(names)) {
        const [long, quick] = STREAMS[pace];
        const task: PublishOptions = { name, isPaced: pace === 'paced', streams: isQuick ? quick : long };
        const what = `publish, round ${round + 1} of ${rounds}: ${name}, ${pace}`;
        const costs = await measured<PublishCosts>(what, WORKER, task, notes);
        if (!costs) continue;
        const metrics = Object.entries(costs.metrics).map(([metric, value]) => [`${pace} ${metric}`, value]);
        results.add(round, name, Object.fromEntries(metrics));
        notes.add(`Server: ${costs.server}`);
      }
    }
  }
  const targets = CHANNEL_NAMES.map((name) => targetRow(TARGETS[name], prices(results, name, 'paced')));
  reportRows('Targets', targets);
  for (const pace of PACES) reportPublish(results, names, pace);
  console.log(`\n${machine()}`);
  for (const note of notes) console.log(`\n${note}`);
  return targets;
}

const TARGETS: Readonly<Record<ChannelName, TargetName>> = {
  memory: 'publish memory',
  redis: 'publish redis',
  sqlite: 'publish sqlite',
};

/** The CPU that a channel adds to a worker, beside that of `streamText`, in each round. */
function prices(results: PublishResults, name: PublishName, pace: Pace): readonly number[] {
  const growths = results.growths(name, `${pace} cpu alone`, `${pace} cpu`);
  const ratios = results.ratios(name, 'streamText', `${pace} cpu`);
  return ratios.map((ratio, round) => ratio - ratio / (growths[round] ?? NaN));
}

function reportPublish(results: PublishResults, names: readonly PublishName[], pace: Pace): void {
  const head = [
    'program',
    'CPU of the process, ms (ratio to streamText)',
    'without the channel, ms',
    'added by the channel / streamText',
    'CPU of the server, ms',
    'scripts',
    'commands in them',
  ];
  const rows = names.map((name) => {
    const onServer = (metric: PublishMetric): string =>
      name === 'redis' ? inUnit(median(results.values(name, `${pace} ${metric}`))) : '–';
    return [
      name,
      results.cell(name, 'streamText', `${pace} cpu`),
      inUnit(median(results.values(name, `${pace} cpu alone`))),
      inUnit(median(prices(results, name, pace))),
      ...(['server cpu', 'scripts', 'commands'] as const).map(onServer),
    ];
  });
  const duration = pace === 'paced' ? 'in 3 seconds' : 'as soon as they are read';
  reportTable(`One response, its deltas ${duration}`, head, rows);
}
