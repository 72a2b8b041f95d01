import { rowOf, type Row } from '../report.ts';
import type { Results } from '../results.ts';
import { targetRow } from '../targets.ts';
import { installed } from './installed.ts';
import { PEERS, type PeerName } from './peers.ts';
import type { Metric } from './workloads.ts';

const BASE: PeerName = 'generateText';
const DRIVER: PeerName = 'driver-ai-sdk';

/** The targets of the loop, with the measured costs. */
export function loopTargets(results: Results<PeerName, Metric>): readonly Row[] {
  const ratios = (peer: PeerName, metric: Metric): readonly number[] => results.ratios(peer, BASE, metric);
  const growth = (metric: 'steps' | 'heap'): readonly number[] =>
    results.exponents('core', `${metric} 200`, `${metric} 1000`, 5);
  const ratio = (what: string, peer: PeerName, metric: Metric, target: number): Row =>
    rowOf(`${what} / \`generateText\``, ratios(peer, metric), target);
  return [
    targetRow('core 1', ratios('core', 'steps 1')),
    targetRow('core 50', ratios('core', 'steps 50')),
    targetRow('core 200', ratios('core', 'steps 200')),
    targetRow('core 1000', ratios('core', 'steps 1000')),
    ratio('through driver-ai-sdk, 1 step', DRIVER, 'steps 1', 1),
    ratio('through driver-ai-sdk, 10 steps', DRIVER, 'steps 10', 1),
    targetRow('driver 50', ratios(DRIVER, 'steps 50')),
    targetRow('driver 200', ratios(DRIVER, 'steps 200')),
    targetRow('driver 1000', ratios(DRIVER, 'steps 1000')),
    targetRow('cpu 200', ratios('core', 'cpu 200')),
    targetRow('parallel', ratios('core', 'parallel 50')),
    targetRow('concurrent', ratios('core', 'concurrent total')),
    ratio('1 000 concurrent runs, event-loop delay p99', 'core', 'concurrent delay', 0.3),
    targetRow('growth', growth('steps')),
    rowOf('live heap of core, 1 000 steps', results.values('core', 'heap 1000'), 5.2, 'MB'),
    rowOf('live heap of core: exponent from 200 to 1 000 steps', growth('heap'), 1.05),
    rowOf('streaming through core, a delta', inMicroseconds(results.values('core', 'delta')), 1.5, 'µs'),
    ratio('streaming through driver-ai-sdk, a delta', DRIVER, 'delta', 1),
    rowOf('import of core', results.values('core', 'import'), 15, 'ms'),
    ...installRows(),
  ];
}

function installRows(): readonly Row[] {
  const { codeSize, dependencies } = installed(PEERS.core.modules, PEERS.core.folder);
  return [
    rowOf('installed size of core, without sources and maps', [codeSize], 1, 'MB'),
    rowOf('dependencies of core', [dependencies], 0),
  ];
}

function inMicroseconds(milliseconds: readonly number[]): readonly number[] {
  return milliseconds.map((value) => value * 1_000);
}
