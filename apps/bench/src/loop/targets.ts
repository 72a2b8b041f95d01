import { median } from '../measure.ts';
import type { Row } from '../report.ts';
import { inUnit } from '../report.ts';
import { installed } from './installed.ts';
import type { PeerName } from './peers.ts';
import { PEERS } from './peers.ts';
import type { Results } from './results.ts';
import type { Metric } from './workloads.ts';

const BASE: PeerName = 'generateText';
const DRIVER: PeerName = 'driver-ai-sdk';

/** What the loop may cost, and what it does. */
export function targetRows(results: Results): readonly Row[] {
  const ratio = (what: string, peer: PeerName, metric: Metric, target: number): Row =>
    row(`${what} / generateText`, results.ratios(peer, BASE, metric), target);
  const growth = (what: string, metric: 'steps' | 'heap'): Row =>
    row(`${what}: exponent from 200 to 1 000 steps`, results.exponents('core', metric, 200, 1_000), 1.05);
  return [
    ratio('core loop, 50 steps', 'core', 'steps 50', 0.15),
    ratio('core loop, 200 steps', 'core', 'steps 200', 0.08),
    ratio('core loop, 1 000 steps', 'core', 'steps 1000', 0.025),
    growth('core loop, time of a run', 'steps'),
    ratio('core loop, a run of one step', 'core', 'steps 1', 0.2),
    ratio('core loop, 8 parallel calls, 50 steps', 'core', 'parallel 50', 0.15),
    ratio('through driver-ai-sdk, 1 step', DRIVER, 'steps 1', 1),
    ratio('through driver-ai-sdk, 10 steps', DRIVER, 'steps 10', 1),
    ratio('through driver-ai-sdk, 50 steps', DRIVER, 'steps 50', 1),
    ratio('through driver-ai-sdk, 200 steps', DRIVER, 'steps 200', 1),
    ratio('through driver-ai-sdk, 1 000 steps', DRIVER, 'steps 1000', 0.3),
    row('live heap of core, 1 000 steps', results.values('core', 'heap 1000'), 5.2, 'MB'),
    growth('live heap of core', 'heap'),
    ratio('1 000 concurrent runs, total', 'core', 'concurrent total', 0.35),
    ratio('1 000 concurrent runs, event-loop delay p99', 'core', 'concurrent delay', 0.3),
    row('streaming through core, a delta', inMicroseconds(results.values('core', 'delta')), 1.5, 'µs'),
    ratio('streaming through driver-ai-sdk, a delta', DRIVER, 'delta', 1),
    row('import of core', results.values('core', 'import'), 15, 'ms'),
    ...installRows(),
  ];
}

function installRows(): readonly Row[] {
  const { size, dependencies } = installed(PEERS.core.modules, PEERS.core.folder);
  return [row('installed size of core', [size], 1, 'MB'), row('dependencies of core', [dependencies], 0)];
}

function row(what: string, values: readonly number[], target: number, unit = ''): Row {
  return { what, value: median(values), unit, target, detail: spread(values) };
}

function spread(values: readonly number[]): string {
  if (values.length < 2) return '';
  return `${inUnit(Math.min(...values))} to ${inUnit(Math.max(...values))}, ${values.length} rounds`;
}

function inMicroseconds(milliseconds: readonly number[]): readonly number[] {
  return milliseconds.map((value) => value * 1_000);
}
