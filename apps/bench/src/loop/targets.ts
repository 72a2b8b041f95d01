import type { Row } from '../report.ts';
import { rowOf } from '../report.ts';
import type { Results } from '../results.ts';
import { installed } from './installed.ts';
import type { PeerName } from './peers.ts';
import { PEERS } from './peers.ts';
import type { Metric } from './workloads.ts';

const BASE: PeerName = 'generateText';
const DRIVER: PeerName = 'driver-ai-sdk';

/** What the loop may cost, and what it does. */
export function targetRows(results: Results<PeerName, Metric>): readonly Row[] {
  const ratio = (what: string, peer: PeerName, metric: Metric, target: number): Row =>
    rowOf(`${what} / generateText`, results.ratios(peer, BASE, metric), target);
  const growth = (what: string, metric: 'steps' | 'heap'): Row =>
    rowOf(
      `${what}: exponent from 200 to 1 000 steps`,
      results.exponents('core', `${metric} 200`, `${metric} 1000`, 5),
      1.05,
    );
  return [
    ratio('core loop, 50 steps', 'core', 'steps 50', 0.12),
    ratio('core loop, 200 steps', 'core', 'steps 200', 0.08),
    ratio('core loop, 1 000 steps', 'core', 'steps 1000', 0.025),
    growth('core loop, time of a run', 'steps'),
    ratio('core loop, a run of one step', 'core', 'steps 1', 0.2),
    ratio('core loop, 8 parallel calls, 50 steps', 'core', 'parallel 50', 0.15),
    ratio('through driver-ai-sdk, 1 step', DRIVER, 'steps 1', 1),
    ratio('through driver-ai-sdk, 10 steps', DRIVER, 'steps 10', 1),
    ratio('through driver-ai-sdk, 50 steps', DRIVER, 'steps 50', 0.25),
    ratio('through driver-ai-sdk, 200 steps', DRIVER, 'steps 200', 0.15),
    ratio('through driver-ai-sdk, 1 000 steps', DRIVER, 'steps 1000', 0.07),
    rowOf('live heap of core, 1 000 steps', results.values('core', 'heap 1000'), 5.2, 'MB'),
    growth('live heap of core', 'heap'),
    ratio('1 000 concurrent runs, total', 'core', 'concurrent total', 0.35),
    ratio('1 000 concurrent runs, event-loop delay p99', 'core', 'concurrent delay', 0.3),
    rowOf('streaming through core, a delta', inMicroseconds(results.values('core', 'delta')), 1.5, 'µs'),
    ratio('streaming through driver-ai-sdk, a delta', DRIVER, 'delta', 1),
    rowOf('import of core', results.values('core', 'import'), 15, 'ms'),
    ...installRows(),
  ];
}

function installRows(): readonly Row[] {
  const { size, dependencies } = installed(PEERS.core.modules, PEERS.core.folder);
  return [rowOf('installed size of core', [size], 1, 'MB'), rowOf('dependencies of core', [dependencies], 0)];
}

function inMicroseconds(milliseconds: readonly number[]): readonly number[] {
  return milliseconds.map((value) => value * 1_000);
}
